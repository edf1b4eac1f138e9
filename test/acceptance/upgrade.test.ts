import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { untilWorkerOf } from '../support/processes.ts';
import { configure, inSandbox, type Sandbox, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';

/** Changes the schema version, as a newer queuectl does that migrates the file, and back. */
function moveSchema(box: Sandbox, by: number): void {
  const db = new DatabaseSync(join(box.home, 'queue.db'), { timeout: 5000 });
  const { user_version: found } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  db.exec(`PRAGMA user_version = ${found + by}`);
  db.close();
}

test(
  'after a newer queuectl has migrated the file, old workers exit and the newer version settles their job',
  inSandbox(async (box) => {
    await configure(box, { 'heartbeat-interval': '200ms', lease: '1s' });
    const workers = await box.startWorkers('--count', '2');
    const job = await startGatedJob(box, 'job', 3);
    moveSchema(box, 1);
    expect(await workers.exit).toBe(5);
    expect(workers.output()).toMatch(
      /has schema version \d+; this version of queuectl supports versions up to/,
    );
    expectRefusal(await box.run(['enqueue', 'true']), 5, /schema version/);
    moveSchema(box, -1);
    await box.startWorkers();
    await untilWorkerOf(box, 'job');
    job.release();
    expect(await untilState(box, 'job', 'dead')).toMatchObject({ exit_code: 3, attempts: 1, crashes: 0 });
    expect(job.traces()).toEqual(ONE_RUN);
  }),
);
