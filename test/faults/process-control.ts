import { DatabaseSync } from 'node:sqlite';
import { processes } from '../../src/exec/processes.ts';
import { stat } from '../../src/files/process-identity.ts';
import { isAlive } from '../support/processes.ts';
import { until } from '../support/queuectl.ts';
import type { Lab, Supervisor } from './lab.ts';
import { readWitness, type WitnessLine } from './witness.ts';

/** Flags of a worker that serves no queue with jobs, so that it only adopts jobs. */
export const ADOPT_ONLY = ['--queue', 'nothing'];
/** Settings for short rounds: workers soon notice that others are gone, and soon kill commands that ignore SIGTERM. */
export const QUICK_SETTINGS = { 'heartbeat-interval': '200ms', lease: '1s', 'kill-grace': '200ms' };

/** Waits until a job has recorded its start, and returns that line. */
export function untilStarted(lab: Lab, job: string): Promise<WitnessLine> {
  const first = (): WitnessLine | undefined =>
    readWitness(lab.box.directory).find((line) => line.what === 'S' && line.job === job);
  return until(first, `${job} has started`);
}

/** Waits until `count` workers of the supervisor have become ready, including workers that have exited. */
export async function untilReady(supervisor: Supervisor, count = 1): Promise<void> {
  await until(() => supervisor.output().split(' ready ').length > count, 'the workers are ready');
}

/** Suspends a process, but not while it holds the write lock, which would block all others. */
export function freeze(lab: Lab, pid: number): void {
  do suspend(pid);
  while (!canWrite(lab.database));
}

/** Suspends a process and waits up to 5 s until it is stopped, because a system call may have to return first. */
function suspend(pid: number): void {
  process.kill(pid, 'SIGCONT');
  process.kill(pid, 'SIGSTOP');
  const deadline = performance.now() + 5000;
  while (!isStopped(pid) && performance.now() < deadline) Bun.sleepSync(1);
}

function canWrite(database: string): boolean {
  const db = new DatabaseSync(database, { timeout: 500 });
  try {
    db.exec('BEGIN IMMEDIATE; ROLLBACK');
    return true;
  } catch {
    return false;
  } finally {
    db.close();
  }
}

export async function untilGone(pids: number[], limitMs?: number): Promise<void> {
  await until(() => !pids.some(isAlive), `${pids.join(', ')} are gone`, limitMs);
}

/** Returns the process group of a process. */
export function groupOf(pid: number): number {
  return stat(pid)!.group;
}

export function isStopped(pid: number): boolean {
  const { state } = stat(pid)!;
  // A shell that starts a program by vfork waits in the kernel for its child, which may be stopped before it runs the program.
  const child = state === 'D' ? (processes.childrenOf(pid).at(-1) ?? null) : null;
  return state === 'T' || (child !== null && stat(child)?.state === 'T');
}
