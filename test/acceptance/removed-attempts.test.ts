import { expect } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { killAll, untilNoProcessOf, workersOf } from '../support/processes.ts';
import { configure, type Sandbox, untilState } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

function removeAttemptsDirectory(box: Sandbox): void {
  rmSync(join(box.stateDirectory(), 'attempts'), { recursive: true });
}

// The frame also exits with these two codes when it has run nothing.
for (const exitCode of [75, 76])
  test(`a command that exits with ${exitCode} counts as run although its record was removed`, async (box) => {
    await box.startWorkers();
    const job = await startGatedJob(box, 'job', exitCode);
    removeAttemptsDirectory(box);
    job.release();
    expect(await untilState(box, 'job', 'dead')).toMatchObject({ exit_code: exitCode, attempts: 1 });
    expect(job.traces()).toEqual(ONE_RUN);
  });

test('a job that ended without a worker counts as lost when the state directory was removed', async (box) => {
  await configure(box, { 'heartbeat-interval': '100ms', 'kill-grace': '100ms', lease: '2s' });
  const supervisor = await box.startWorkers();
  const job = await startGatedJob(box, 'job', 0, { at_most_once: true });
  await killAll([supervisor.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
  job.release();
  await untilNoProcessOf(box, 'job');
  rmSync(box.stateDirectory(), { recursive: true });
  await box.startWorkers();
  expect(await untilState(box, 'job', 'dead')).toMatchObject({ attempts: 0, crashes: 1 });
  expect(job.traces()).toEqual(ONE_RUN);
});

/** Ways to remove the files of attempts, as shell commands that run in the state directory. */
const REMOVALS = {
  'the attempts directory was emptied': 'rm -rf attempts/*',
  'the records were removed': 'rm -f attempts/*.rec',
};

for (const [change, command] of Object.entries(REMOVALS))
  test(`a job that ends without a worker after ${change} does not run again`, async (box) => {
    const supervisor = await box.startWorkers();
    const job = await startGatedJob(box, 'job', 7, { at_most_once: true });
    const workers = await workersOf(box);
    await killAll([supervisor.pid, ...workers.map((worker) => worker.pid)]);
    expect(spawnSync('sh', ['-c', command], { cwd: box.stateDirectory() }).status).toBe(0);
    job.release();
    await untilNoProcessOf(box, 'job');
    await box.startWorkers();
    // The frame creates its record again when it writes the exit code.
    expect(await untilState(box, 'job', 'dead')).toMatchObject({ exit_code: 7, crashes: 0 });
    expect(job.traces()).toEqual(ONE_RUN);
  });
