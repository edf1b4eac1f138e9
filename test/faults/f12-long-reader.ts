import { statSync } from 'node:fs';
import { openDatabase } from '../support/database.ts';
import { countUnfinished } from './audit.ts';
import { enqueueFromMany } from './f11-busy.ts';
import type { Fault, Figures } from './fault.ts';
import { inLab, type Lab } from './lab.ts';
import { untilReady } from './process-control.ts';

const MIB = 1024 ** 2;
/** The write-ahead log shrinks to this size when nothing reads. From this size on, doctor warns. */
const LOG_LIMIT = 64 * MIB;
/** A part of the bound of the log: twice the size that is written between two checkpoints. */
const SLACK = 8 * MIB;

/**
 * Keeps a read transaction open during the load. Writes must continue, and doctor must report a large log. After the
 * read, neither the same load nor queuectl's own readers may let the log grow beyond its bound.
 */
export const longReader: Fault = {
  id: 'F12',
  title: 'A reader keeps a transaction open while the load lasts',
  small: 200,
  full: 10_000,
  run: (jobs, seed, program) =>
    inLab(
      seed,
      async (lab) => {
        const workers = lab.supervisor(['--count', '4']);
        await untilReady(workers, 4);
        const wrong: Figures['violations'] = [];
        const reader = openDatabase(lab.database);
        reader.exec('BEGIN');
        reader.prepare('SELECT count(*) FROM job').get();
        await enqueueFromMany(lab, jobs, 2, 'read');
        await lab.waitForJobs();
        const sizeDuring = walSize(lab);
        const waiting = countUnfinished(lab.database);
        if (waiting > 0) wrong.push({ kind: 'stuck', what: `${waiting} jobs waited for a reader` });
        if (sizeDuring >= LOG_LIMIT && !(await doctorWarns(lab)))
          wrong.push({ kind: 'unclear', what: `doctor says nothing of a log of ${sizeDuring} bytes` });
        reader.exec('COMMIT');
        reader.close();

        await enqueueFromMany(lab, jobs, 2, 'after');
        await lab.waitForJobs();
        const sizeAfter = walSize(lab);
        const bound = Math.min(sizeDuring, LOG_LIMIT) + SLACK;
        if (sizeAfter > bound)
          wrong.push({ kind: 'growth', what: `a log of ${sizeAfter} bytes; ${bound} are allowed` });

        let isLoaded = true;
        const readers = runOwnReaders(lab, () => isLoaded);
        await enqueueFromMany(lab, Math.ceil(jobs / 4), 2, 'ours');
        await lab.waitForJobs();
        isLoaded = false;
        const sizeWithReaders = await readers;
        if (sizeWithReaders > 2 * LOG_LIMIT)
          wrong.push({ kind: 'growth', what: `a log of ${sizeWithReaders} bytes under our readers` });

        const violations = [...(await lab.judge()), ...wrong];
        const [a, b, c] = [sizeDuring, sizeAfter, sizeWithReaders].map((bytes) => (bytes / MIB).toFixed(0));
        const notes = `write-ahead log ${a} MiB during the read, ${b} MiB after it, ${c} MiB with queuectl readers only`;
        return { jobs: lab.enqueued.length, faults: 1, violations, notes };
      },
      program,
    ),
};

/** Runs `export`, `list` and `status` in turn while `goOn` returns true. Returns the largest size of the log. */
async function runOwnReaders(lab: Lab, goOn: () => boolean): Promise<number> {
  let largest = 0;
  while (goOn()) {
    for (const args of [['export'], ['list', '--limit', '1000', '--json'], ['status']]) {
      const { code, stderr } = await lab.box.run(args);
      if (code !== 0) throw new Error(`${args[0]}: ${stderr}`);
      largest = Math.max(largest, walSize(lab));
    }
  }
  return largest;
}

async function doctorWarns(lab: Lab): Promise<boolean> {
  const { stdout } = await lab.box.run(['doctor', '--json']);
  return /"wal","status":"warn"/.test(JSON.stringify(JSON.parse(stdout)));
}

function walSize(lab: Lab): number {
  return statSync(`${lab.database}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}
