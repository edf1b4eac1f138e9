import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../../src/core/time/clock.ts';
import { isAlive } from '../support/processes.ts';
import { EXECUTABLE, type Running, type Sandbox, sandbox, until } from '../support/queuectl.ts';
import { randomFrom } from '../support/random.ts';
import { type Audit, sqliteAudit } from './audit.ts';
import { check, type Enqueued, type History, type LoggedSettlement, type Violation } from './checker.ts';
import { jobProcessesIn } from './job-processes.ts';
import { watchStandstill } from './standstill.ts';
import { readWitness, writeWitnessScript } from './witness.ts';

export interface Supervisor extends Running {
  /** Returns the pids of its live child processes. They are its workers unless a prefix started it. */
  workers(): number[];
}

/** A queue to which a fault happens, with everything that is needed to check it afterwards. */
export interface StoreLab {
  box: Sandbox;
  random: Random;
  enqueued: Enqueued[];
  /** Enqueues jobs with one command and records that they were acknowledged. */
  enqueue(jobs: { id: string; command: string; [field: string]: unknown }[]): Promise<void>;
  /** Records the result that the client of an enqueue saw. */
  recordEnqueue(id: string, outcome: Enqueued['outcome']): void;
  configure(settings: Record<string, string>): Promise<void>;
  /** Runs `worker start` with these arguments, behind the command prefix `through`. */
  supervisor(args?: string[], env?: Record<string, string>, through?: string[]): Supervisor;
  /** Returns the supervisors that are still running. */
  supervisors(): Supervisor[];
  /**
   * Waits until `isOver` returns true, by default when every job has ended. Also returns when no supervisor is left, or
   * after a standstill that is longer than the lease allows, which counts as a violation.
   */
  waitForJobs(isOver?: () => boolean | Promise<boolean>): Promise<void>;
  /** Stops the workers and returns the violations. `once` holds the jobs that may start at most once, by default all. */
  judge(once?: History['once']): Promise<Violation[]>;
}

/** A queue in a file. */
export interface Lab extends StoreLab {
  database: string;
}

export async function inLab<T>(
  seed: number,
  work: (lab: Lab) => Promise<T>,
  program = EXECUTABLE,
): Promise<T> {
  const box = sandbox([], program);
  try {
    const database = join(box.home, 'queue.db');
    return await work({ ...(await openLab(box, seed, sqliteAudit(database))), database });
  } finally {
    await box.cleanup();
  }
}

/** Creates the store of a sandbox and begins to record its changes. */
export async function openLab(box: Sandbox, seed: number, audit: Audit): Promise<StoreLab> {
  const enqueued: Enqueued[] = [];
  const allSupervisors: Supervisor[] = [];
  const lateJobs: Violation[] = [];
  const probe = async (): Promise<number> => {
    const from = performance.now();
    await box.json(['status']);
    return performance.now() - from;
  };
  writeWitnessScript(box.directory);
  await box.create();
  const probeMs = await probe();
  await audit.start();
  const recordEnqueue = (id: string, outcome: Enqueued['outcome']): void => {
    enqueued.push({ id, outcome });
    appendFileSync(join(box.directory, 'client.log'), `${outcome} ${id}\n`);
  };
  return {
    box,
    random: randomFrom(seed),
    enqueued,
    recordEnqueue,
    async enqueue(jobs) {
      const stdin = jobs.map((job) => JSON.stringify(job)).join('\n');
      const { code, stderr } = await box.run(['enqueue', '--file', '-'], { stdin });
      if (code !== 0) throw new Error(`enqueue exited with ${code}: ${stderr}`);
      for (const { id } of jobs) recordEnqueue(id, 'ok');
    },
    async configure(settings) {
      for (const [key, value] of Object.entries(settings)) await box.json(['config', 'set', key, value]);
    },
    supervisor(args = [], env = {}, through = []) {
      const one = box.start(['worker', 'start', ...args], { env, through });
      const supervisor = { ...one, workers: () => childrenOf(one.pid) };
      allSupervisors.push(supervisor);
      return supervisor;
    },
    supervisors: () => allSupervisors.filter(isRunning),
    async waitForJobs(isOver = async () => (await audit.unfinishedWork()).unfinished === 0) {
      const standstill = await watchStandstill(audit, probeMs, probe);
      const done = async (): Promise<boolean> => {
        if ((await isOver()) || lateJobs.length > 0) return true;
        if (allSupervisors.length > 0 && !allSupervisors.some(isRunning)) return true;
        const what = await standstill.check();
        if (what !== null) lateJobs.push({ kind: 'late', what });
        return what !== null;
      };
      await until(done, 'every job has ended', Number.POSITIVE_INFINITY);
    },
    async judge(once = 'all') {
      await box.run(['worker', 'stop', '--timeout', '30s']);
      for (const one of allSupervisors) if (isRunning(one)) process.kill(one.pid, 'SIGKILL');
      await Promise.all(allSupervisors.map((one) => one.closed));
      const violations = check({
        enqueued,
        witness: readWitness(box.directory),
        jobs: await audit.readJobs(),
        changes: await audit.readChanges(),
        logged: allSupervisors.flatMap((one) => settlementsIn(one.output())),
        orphans: jobProcessesIn(box.home),
        once,
      });
      return [...violations, ...lateJobs, ...(await audit.brokenInvariants())];
    },
  };
}

/** Decides by the exit event of the child, because its pid may be reused by now. */
function isRunning({ child }: Running): boolean {
  return child.exitCode === null && child.signalCode === null;
}

export function childrenOf(pid: number): number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1')
      .split(' ')
      .map(Number)
      .filter((child) => child > 0 && isAlive(child));
  } catch {
    return [];
  }
}

/** Returns the settlements in a log, each with all workers that share the log. */
export function settlementsIn(log: string): LoggedSettlement[] {
  const workers = [...log.matchAll(/ worker=(\w+) ready /g)].map(([, id]) => id!);
  const settled = /^\S+ job=(\S+) attempt=\d+ queue=\S+ (?:completed|failed|dead|cancelled|requeued) /gm;
  return [...log.matchAll(settled)].map(([, job]) => ({ job: job!, workers }));
}
