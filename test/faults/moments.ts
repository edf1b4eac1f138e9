import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { isAlive } from '../support/processes.ts';
import { until } from '../support/queuectl.ts';
import type { Lab, Supervisor } from './lab.ts';
import { readWitness, type WitnessLine } from './witness.ts';

/** Flags of a worker that serves no queue with jobs, so that it only adopts. */
export const ADOPTER = ['--queue', 'nothing'];
/** Settings under which workers quickly notice that others are gone. */
export const QUICK = { 'heartbeat-interval': '200ms', lease: '1s', 'kill-grace': '200ms' };

/** Waits for the start of a job by its witness, and returns it. */
export function started(lab: Lab, job: string): Promise<WitnessLine> {
  const first = (): WitnessLine | undefined =>
    readWitness(lab.box.directory).find((line) => line.what === 'S' && line.job === job);
  return until(first, `${job} has started`);
}

export async function ready(supervisor: Supervisor, count = 1): Promise<void> {
  await until(() => supervisor.output().split(' ready ').length > count, 'the workers are ready');
}

/** Stops a process, but never while it holds the database, which would stop all others. */
export function freeze(lab: Lab, pid: number): void {
  do stopNow(pid);
  while (!canWrite(lab.database));
}

/** A process that is signalled inside a system call stops only at its end, and may take a lock before. */
function stopNow(pid: number): void {
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

export async function gone(pids: number[], limitMs?: number): Promise<void> {
  await until(() => !pids.some(isAlive), `${pids.join(', ')} are gone`, limitMs);
}

/** Returns the process group of a process. */
export function groupOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[2]);
}

export function isStopped(pid: number): boolean {
  const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return text.slice(text.lastIndexOf(')') + 2).startsWith('T');
}
