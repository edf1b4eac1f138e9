import { expect, test } from 'bun:test';
import { startGatedJob } from '../support/gated-job.ts';
import { isAlive, sendSignal, workersOf } from '../support/processes.ts';
import { configure, inSandbox, until, untilState } from '../support/queuectl.ts';

const LEASE_MS = 3000;

test('workers that were all frozen by SIGSTOP for longer than a lease do not consider each other dead', () =>
  inSandbox(async (box) => {
    await configure(box, { 'heartbeat-interval': '200ms', lease: '3s' });
    const supervisor = await box.startWorkers('--count', '3');
    const jobs = await Promise.all(['a', 'b', 'c'].map((id) => startGatedJob(box, id)));
    const workers = await workersOf(box);
    const pids = workers.map((worker) => worker.pid);
    const heartbeats = async (): Promise<string> =>
      (await workersOf(box)).map((worker) => worker.last_heartbeat).join();
    // At least one heartbeat is sent before the workers are frozen.
    const firstHeartbeats = await heartbeats();
    await until(async () => (await heartbeats()) !== firstHeartbeats, 'a heartbeat');
    sendSignal(pids, 'SIGSTOP');
    const frozenAt = performance.now();
    await until(() => performance.now() - frozenAt > 1.5 * LEASE_MS, 'more than a lease passes');
    const lastHeartbeats = await heartbeats();
    sendSignal(pids, 'SIGCONT');
    await until(async () => {
      const [oldTimes, newTimes] = [lastHeartbeats.split(','), (await heartbeats()).split(',')];
      return newTimes.every((time, i) => time !== oldTimes[i]);
    }, 'all workers have sent a heartbeat again');
    for (const job of jobs) job.release();
    for (const { id } of jobs) await untilState(box, id, 'completed');
    expect(pids.every(isAlive)).toBe(true);
    expect(supervisor.output()).not.toMatch(/adopted|no longer registered/);
  })());
