import { expect, test } from 'bun:test';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { killAll, untilNoProcessOf, workersOf } from '../support/processes.ts';
import { inSandbox, type Sandbox, untilState } from '../support/queuectl.ts';

function removeAttempts(box: Sandbox): void {
  rmSync(join(box.home, 'queue.db.d', 'attempts'), { recursive: true });
}

// Those two are also what the frame exits with when it has run nothing.
for (const exitCode of [75, 76])
  test.concurrent(
    `a command that exits with ${exitCode} has run, though its record was removed`,
    inSandbox(async (box) => {
      await box.startWorkers();
      const job = await startGatedJob(box, 'job', exitCode);
      removeAttempts(box);
      job.letGo();
      expect(await untilState(box, 'job', 'dead')).toMatchObject({ exit_code: exitCode, attempts: 1 });
      expect(job.traces()).toEqual(ONE_RUN);
    }),
  );

for (const made of ['gone', 'made again'])
  test.concurrent(
    `a job that ends unseen is lost, not unstarted, when the directory of all attempts is ${made}`,
    inSandbox(async (box) => {
      const first = await box.startWorkers();
      const job = await startGatedJob(box, 'job', 0, { at_most_once: true });
      const workers = await workersOf(box);
      await killAll([first.pid, ...workers.map((worker) => worker.pid)]);
      removeAttempts(box);
      if (made === 'made again') mkdirSync(join(box.home, 'queue.db.d', 'attempts'), { mode: 0o700 });
      job.letGo();
      await untilNoProcessOf(box, 'job');
      await box.startWorkers();
      expect(await untilState(box, 'job', 'dead')).toMatchObject({ attempts: 0, crashes: 1 });
      expect(job.traces()).toEqual(ONE_RUN);
    }),
  );
