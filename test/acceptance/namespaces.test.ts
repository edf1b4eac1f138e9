import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { killAll, processesOfJob, workersOf } from '../support/processes.ts';
import { configure, inSandbox, until, untilState } from '../support/queuectl.ts';

const OTHER_PID_NAMESPACE = ['unshare', '-pf', '--mount-proc'];
// A test is skipped if this user cannot create the namespace that it needs.
const cannotUnshare = cannotRun(OTHER_PID_NAMESPACE);
const OTHER_PID_NAMESPACE_HOST_PROC = ['unshare', '-pf'];
/** Gives queuectl a boot clock that differs from the machine's by days. */
const OTHER_TIME_NAMESPACE = ['unshare', '-T', '--boottime', '1000000', '--fork'];

/** On PostgreSQL, the guard of killed workers stops their job if no other worker renews the lease in time. */
const SETTINGS = { 'heartbeat-interval': '200ms', 'kill-grace': '200ms', lease: '8s' };

function cannotRun([program, ...args]: string[]): boolean {
  return spawnSync(program!, [...args, 'true']).status !== 0;
}

test.skipIf(cannotUnshare)(
  'a job in another pid namespace is reported by explain and the log, and cancelled by a worker in its namespace',
  inSandbox(async (box) => {
    await configure(box, SETTINGS);
    const supervisor = await box.startWorkers();
    const job = await startGatedJob(box, 'job');
    const workers = await workersOf(box);
    await killAll([supervisor.pid, ...workers.map((worker) => worker.pid)]);

    const other = box.start(['worker', 'start'], { through: OTHER_PID_NAMESPACE });
    await until(
      () => other.output().includes('may still be running in another pid namespace'),
      'the log reports the job',
    );
    expect((await box.run(['explain', 'job'], { through: OTHER_PID_NAMESPACE })).stdout).toContain(
      'in another pid namespace',
    );
    const cancelled = await box.run(['cancel', 'job'], { through: OTHER_PID_NAMESPACE });
    expect(cancelled.code).toBe(4);
    expect(cancelled.stderr).toContain('another pid namespace');
    expect(processesOfJob(box, 'job').length).toBeGreaterThan(0);

    await box.startWorkers();
    expect(await untilState(box, 'job', 'cancelled')).toMatchObject({ crashes: 0 });
    expect(processesOfJob(box, 'job')).toEqual([]);
    expect(job.traces()).toEqual(['start']);
  }),
);

test.skipIf(cannotUnshare)(
  'only workers that run as PID 1 warn about it and suggest an init process',
  inSandbox(async (box) => {
    const asPid1 = await box.run(['worker', 'start', '--drain'], { through: OTHER_PID_NAMESPACE });
    expect(asPid1.code).toBe(0);
    expect(asPid1.stderr).toMatch(/^warning: queuectl is running as PID 1, .*docker run --init/m);
    expect((await box.run(['worker', 'start', '--drain'])).stderr).not.toContain('PID 1');
  }),
);

test.skipIf(cannotRun(OTHER_PID_NAMESPACE_HOST_PROC))(
  'if /proc belongs to another pid namespace, no worker starts and no job is signalled',
  inSandbox(async (box) => {
    const expectRefused = async (...args: string[]) => {
      const { code, stderr } = await box.run(args, { through: OTHER_PID_NAMESPACE_HOST_PROC });
      expect([code, stderr]).toEqual([1, expect.stringContaining('/proc belongs to another pid namespace')]);
      expect(stderr).toContain('--mount-proc');
    };
    await expectRefused('worker', 'start', '--drain');
    expect(existsSync(box.home)).toBe(false);
    await configure(box, { 'heartbeat-interval': '200ms', lease: '1s', 'kill-grace': '200ms' });
    const supervisor = await box.startWorkers();
    const job = await startGatedJob(box, 'job');
    await expectRefused('suspend', 'job');
    await killAll([supervisor.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
    await expectRefused('cancel', 'job');
    expect(processesOfJob(box, 'job').length).toBeGreaterThan(0);
    expect((await box.run(['cancel', 'job'])).code).toBe(0);
    expect(await untilState(box, 'job', 'cancelled')).toMatchObject({ crashes: 0 });
    expect(job.traces()).toEqual(['start']);
  }),
);

test.skipIf(cannotRun(OTHER_TIME_NAMESPACE))(
  'workers in two time namespaces consider each other alive until one dies and the other adopts its job',
  inSandbox(async (box) => {
    await configure(box, SETTINGS);
    const other = box.start(['worker', 'start'], { through: OTHER_TIME_NAMESPACE });
    await until(() => other.output().includes(' ready '), 'a worker in another time namespace');
    const job = await startGatedJob(box, 'job');
    const here = await box.startWorkers();
    const start = Date.now();
    const bothSentHeartbeats = async (): Promise<boolean> => {
      const workers = await workersOf(box);
      return workers.length === 2 && workers.every((one) => Date.parse(one.last_heartbeat) > start + 1000);
    };
    await until(bothSentHeartbeats, 'both workers have sent heartbeats for a second');
    for (const one of [other, here]) expect(one.output()).not.toContain('no longer registered');
    expect(here.output()).not.toContain('adopted');

    const { worker_id } = await box.json<{ worker_id: string }>(['show', 'job']);
    const holder = (await workersOf(box)).find((worker) => worker.id === worker_id)!;
    process.kill(-other.pid, 'SIGKILL');
    await killAll([other.pid, holder.pid]);
    await until(() => here.output().includes('adopted'), 'the job is adopted');
    job.release();
    expect(await untilState(box, 'job', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
    expect(job.traces()).toEqual(ONE_RUN);
  }),
);
