import { DatabaseSync } from 'node:sqlite';
import type { Fault } from './fault.ts';
import { inLab, type Lab } from './lab.ts';
import { roundDone, startProgress } from './progress.ts';
import { witnessed } from './witness.ts';

const BUSY_ERROR = /busy|locked/i;
const JOBS_PER_BATCH = 20;
/** Each job is added, claimed and settled. */
const OPERATIONS_PER_JOB = 3;

/** Locks the database again and again while jobs run. No enqueue may fail, and no worker may report the lock. */
export const busyStorm: Fault = {
  id: 'F11',
  title: 'Many writers, and one that holds the lock in bursts',
  small: 400,
  full: 17_000,
  run: (jobs, seed, program) =>
    inLab(
      seed,
      async (lab) => {
        const large = jobs > 1000;
        const workers = lab.supervisor(['--count', large ? '32' : '8']);
        let enqueuing = true;
        const holder = holdInBursts(lab, large ? 4000 : 1000, () => enqueuing);
        let refusal = '';
        const slowest = await enqueueFromMany(lab, jobs, large ? 8 : 4).catch((error: Error) => {
          refusal = error.message;
          return 0;
        });
        enqueuing = false;
        const bursts = await holder;
        if (refusal === '') await lab.waitForJobs();
        const output = workers.output();
        const violations = await lab.judge();
        if (refusal !== '') violations.push({ kind: 'invariant', what: refusal });
        if (BUSY_ERROR.test(output))
          violations.push({ kind: 'invariant', what: 'a worker reported a busy database' });
        const notes = `${OPERATIONS_PER_JOB * jobs} operations, slowest enqueue ${Math.round(slowest)}ms`;
        return { jobs, faults: bursts, violations, notes };
      },
      program,
    ),
};

/** Enqueues jobs in batches from several clients at a time. Returns the time of the slowest batch in milliseconds. */
export async function enqueueFromMany(
  lab: Lab,
  jobs: number,
  clients: number,
  prefix = 'j',
): Promise<number> {
  let next = 0;
  let slowest = 0;
  startProgress(Math.ceil(jobs / JOBS_PER_BATCH));
  const client = async (): Promise<void> => {
    while (next < jobs) {
      const from = next;
      next += JOBS_PER_BATCH;
      const start = performance.now();
      await lab.enqueue(
        Array.from({ length: Math.min(JOBS_PER_BATCH, jobs - from) }, (_, i) => ({
          id: `${prefix}${from + i}`,
          command: witnessed(0),
        })),
      );
      slowest = Math.max(slowest, performance.now() - start);
      roundDone();
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return slowest;
}

/** Locks the database for `holdMs`, with pauses of the same length, while `goOn` returns true. Counts the locks. */
async function holdInBursts(lab: Lab, holdMs: number, goOn: () => boolean): Promise<number> {
  const db = new DatabaseSync(lab.database, { timeout: 20_000 });
  let bursts = 0;
  const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
  while (goOn()) {
    db.exec('BEGIN IMMEDIATE');
    await pause(holdMs);
    db.exec('ROLLBACK');
    bursts++;
    await pause(holdMs);
  }
  db.close();
  return bursts;
}
