import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { namesIn } from '../../src/files/names-in.ts';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { killAll, untilNoProcessOf, workersOf } from '../support/processes.ts';
import {
  configure,
  enqueue,
  inSandbox,
  lines,
  type Sandbox,
  until,
  untilState,
} from '../support/queuectl.ts';

function removeAttemptsDirectory(box: Sandbox): void {
  rmSync(join(box.stateDirectory(), 'attempts'), { recursive: true });
}

// The frame also exits with these two codes when it has run nothing.
for (const exitCode of [75, 76])
  test.concurrent(
    `a command that exits with ${exitCode} counts as run although its record was removed`,
    inSandbox(async (box) => {
      await box.startWorkers();
      const job = await startGatedJob(box, 'job', exitCode);
      removeAttemptsDirectory(box);
      job.release();
      expect(await untilState(box, 'job', 'dead')).toMatchObject({ exit_code: exitCode, attempts: 1 });
      expect(job.traces()).toEqual(ONE_RUN);
    }),
  );

/** Ways to remove or empty the attempts directory, as shell commands that run in the state directory. */
const REMOVALS = {
  removed: 'rm -rf attempts',
  'removed and recreated': 'rm -rf attempts; mkdir -m 700 attempts',
  emptied: 'rm -rf attempts/*',
  'emptied with find': 'find attempts -mindepth 1 -delete',
  'emptied of its files': 'find attempts -mindepth 1 -maxdepth 1 -type f -delete',
  'emptied by a pattern': 'rm -rf attempts/????????????-*',
  'emptied of its records': 'rm -f attempts/*.rec',
};

for (const [change, command] of Object.entries(REMOVALS))
  test.concurrent(
    `a job that ended without a worker counts as lost when the attempts directory was ${change}`,
    inSandbox(async (box) => {
      const supervisor = await box.startWorkers();
      const job = await startGatedJob(box, 'job', 0, { at_most_once: true });
      const workers = await workersOf(box);
      await killAll([supervisor.pid, ...workers.map((worker) => worker.pid)]);
      job.release();
      await untilNoProcessOf(box, 'job');
      expect(spawnSync('sh', ['-c', command], { cwd: box.stateDirectory() }).status).toBe(0);
      await box.startWorkers();
      expect(await untilState(box, 'job', 'dead')).toMatchObject({ attempts: 0, crashes: 1 });
      expect(job.traces()).toEqual(ONE_RUN);
    }),
  );

for (const [change, command] of Object.entries(REMOVALS))
  test.concurrent(
    `a job that ends without a worker after the directory of all attempts was ${change} does not run again`,
    inSandbox(async (box) => {
      const supervisor = await box.startWorkers();
      const job = await startGatedJob(box, 'job', 7, { at_most_once: true });
      const workers = await workersOf(box);
      await killAll([supervisor.pid, ...workers.map((worker) => worker.pid)]);
      expect(spawnSync('sh', ['-c', command], { cwd: box.stateDirectory() }).status).toBe(0);
      job.release();
      await untilNoProcessOf(box, 'job');
      await box.startWorkers();
      // If the directory exists, the frame creates its record again when it writes the exit code.
      const expected = change === 'removed' ? { exit_code: null, crashes: 1 } : { exit_code: 7, crashes: 0 };
      expect(await untilState(box, 'job', 'dead')).toMatchObject(expected);
      expect(job.traces()).toEqual(ONE_RUN);
    }),
  );

test.concurrent(
  'an attempt that never started is not counted as a crash if the attempts directory was removed before its claim',
  inSandbox(async (box) => {
    await configure(box, { 'heartbeat-interval': '100ms' });
    const supervisor = await box.startWorkers();
    removeAttemptsDirectory(box);
    await until(() => isSealed(box), 'the worker has created a new seal');
    await killAll([supervisor.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
    await enqueue(box, 'job', 'echo start >> job.log', { at_most_once: true });
    const crashing = box.start(['worker', 'start'], { env: { QUEUECTL_CRASH_AT: 'before-place' } });
    expect(await untilState(box, 'job', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
    expect(crashing.output()).toContain('starting a replacement');
    expect(lines(join(box.directory, 'job.log'))).toEqual(['start']);
  }),
);

function isSealed(box: Sandbox): boolean {
  const attempts = join(box.stateDirectory(), 'attempts');
  return namesIn(attempts).some((name) => name.endsWith('-0.rec'));
}
