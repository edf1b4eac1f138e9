import { statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { unfinished } from './audit.ts';
import type { Fault } from './fault.ts';
import { inLab, type Lab } from './lab.ts';
import { ready } from './moments.ts';
import { witnessed } from './witness.ts';

const BUSY = /busy|locked/i;
const BATCH = 20;

/** Worker processes, enqueuers and somebody who holds the database for seconds: nobody sees an error, all get their turn. */
export const busyStorm: Fault = {
  id: 'F11',
  title: 'many writers, and one that holds the lock in bursts',
  small: 400,
  full: 20_000,
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
        if (refused === '') await lab.rest(600_000);
        const said = workers.output();
        const { violations } = await lab.judge();
        if (refused !== '') violations.push({ kind: 'invariant', what: refused });
        if (BUSY.test(said)) violations.push({ kind: 'invariant', what: 'a worker told of a busy database' });
        return { jobs, faults: bursts, violations, notes: `slowest enqueue ${Math.round(slowest)} ms` };
      },
      program,
    ),
};

/** The time of the slowest; each call is a process of its own. */
async function enqueueFromMany(lab: Lab, jobs: number, clients: number): Promise<number> {
  let next = 0;
  let slowest = 0;
  const client = async (): Promise<void> => {
    while (next < jobs) {
      const from = next;
      next += BATCH;
      const start = performance.now();
      await lab.enqueue(
        Array.from({ length: Math.min(BATCH, jobs - from) }, (_, i) => ({
          id: `j${from + i}`,
          command: witnessed(0),
        })),
      );
      slowest = Math.max(slowest, performance.now() - start);
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

/** Somebody reads for long: writes go on meanwhile, and once the reader is gone the log stops growing. */
export const longReader: Fault = {
  id: 'F12',
  title: 'a reader that stays for as long as the load lasts',
  small: 200,
  full: 10_000,
  run: (jobs, seed, program) =>
    inLab(
      seed,
      async (lab) => {
        const workers = lab.supervisor(['--count', '4']);
        await ready(workers, 4);
        const reader = new DatabaseSync(lab.database);
        reader.exec('BEGIN');
        reader.prepare('SELECT count(*) FROM job').get();
        await enqueueFromMany(lab, jobs, 2);
        await lab.rest(600_000);
        const during = walSize(lab);
        const left = unfinished(lab.database);
        reader.exec('COMMIT');
        reader.close();
        await lab.enqueue([{ id: 'after', command: witnessed(0) }]);
        await lab.rest();
        const { violations } = await lab.judge();
        if (left > 0) violations.push({ kind: 'stuck', what: `${left} jobs waited for a reader` });
        const notes = `write-ahead log ${Math.round(during / 1024)} KiB while it read`;
        return { jobs, faults: 1, violations, notes };
      },
      program,
    ),
};

function walSize(lab: Lab): number {
  return statSync(`${lab.database}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
