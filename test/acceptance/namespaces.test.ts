import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { startGatedJob } from '../support/gated-job.ts';
import { killAll, processesOfJob, workersOf } from '../support/processes.ts';
import { configure, inSandbox, until, untilState } from '../support/queuectl.ts';

const through = ['unshare', '-pf', '--mount-proc'];
// Skipped without the right to make a pid namespace.
const missing = spawnSync(through[0]!, [...through.slice(1), 'true']).status !== 0;

test.skipIf(missing)(
  'a job out of sight: explain and the log say so, a cancel is left to a worker that sees it',
  inSandbox(async (box) => {
    await configure(box, { 'heartbeat-interval': '200ms', lease: '1s', 'kill-grace': '200ms' });
    const first = await box.startWorkers();
    const job = await startGatedJob(box, 'job');
    const workers = await workersOf(box);
    await killAll([first.pid, ...workers.map((worker) => worker.pid)]);

    const other = box.start(['worker', 'start'], { through });
    await until(() => other.output().includes('may run in another pid namespace'), 'the log says so');
    expect((await box.run(['explain', 'job'], { through })).stdout).toContain('in another pid namespace');
    const cancelled = await box.run(['cancel', 'job'], { through });
    expect(cancelled.code).toBe(4);
    expect(cancelled.stderr).toContain('another pid namespace');
    expect(processesOfJob(box, 'job').length).toBeGreaterThan(0);

    await box.startWorkers();
    expect(await untilState(box, 'job', 'cancelled')).toMatchObject({ crashes: 0 });
    expect(processesOfJob(box, 'job')).toEqual([]);
    expect(job.traces()).toEqual(['start']);
  }),
);

test.skipIf(missing)(
  'workers that run as PID 1 say that nobody reaps, and name an init; others do not',
  inSandbox(async (box) => {
    const first = await box.run(['worker', 'start', '--drain'], { through });
    expect(first.code).toBe(0);
    expect(first.stderr).toMatch(/^warning: running as PID 1: .*docker run --init/m);
    expect((await box.run(['worker', 'start', '--drain'])).stderr).not.toContain('PID 1');
  }),
);
