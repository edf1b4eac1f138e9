import { DatabaseSync } from 'node:sqlite';
import type { Fault } from './fault.ts';
import { inLab, type Lab } from './lab.ts';
import { roundDone, startProgress } from './progress.ts';
import { witnessed } from './witness.ts';

const BUSY = /busy|locked/i;
const BATCH = 20;
/** The operations on each job: it is added, claimed and settled. */
const OPERATIONS_PER_JOB = 3;

/** Runs workers and enqueues jobs while the test locks the database for seconds. No process may report an error. */
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
        let refused = '';
        const slowest = await enqueueFromMany(lab, jobs, large ? 8 : 4).catch((error: Error) => {
          refused = error.message;
          return 0;
        });
        enqueuing = false;
        const bursts = await holder;
        if (refused === '') await lab.waitForJobs();
        const output = workers.output();
        const violations = await lab.judge();
        if (refused !== '') violations.push({ kind: 'invariant', what: refused });
        if (BUSY.test(output))
          violations.push({ kind: 'invariant', what: 'a worker reported a busy database' });
        const notes = `${OPERATIONS_PER_JOB * jobs} operations, slowest enqueue ${Math.round(slowest)}ms`;
        return { jobs, faults: bursts, violations, notes };
      },
      program,
    ),
};

/** Enqueues jobs in batches from several clients at a time. Returns the time of the slowest batch in milliseconds. */
export async function enqueueFromMany(lab: Lab, jobs: number, clients: number, name = 'j'): Promise<number> {
  let next = 0;
  let slowest = 0;
  startProgress(Math.ceil(jobs / BATCH));
  const client = async (): Promise<void> => {
    while (next < jobs) {
      const from = next;
      next += BATCH;
      const start = performance.now();
      await lab.enqueue(
        Array.from({ length: Math.min(BATCH, jobs - from) }, (_, i) => ({
          id: `${name}${from + i}`,
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
