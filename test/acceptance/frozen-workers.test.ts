import { expect, test } from 'bun:test';
import { startGatedJob } from '../support/gated-job.ts';
import { isAlive, sendSignal, workersOf } from '../support/processes.ts';
import { configure, inSandbox, until, untilState } from '../support/queuectl.ts';

const LEASE_MS = 3000;

test('workers that were all stopped for longer than a lease do not consider each other dead', () =>
  inSandbox(async (box) => {
    await configure(box, { 'heartbeat-interval': '200ms', lease: '3s' });
    const supervisor = await box.startWorkers('--count', '3');
    const jobs = await Promise.all(['a', 'b', 'c'].map((id) => startGatedJob(box, id)));
    const workers = await workersOf(box);
    const pids = workers.map((worker) => worker.pid);
    // The workers have sent heartbeats before they are stopped.
    const beats = async (): Promise<string> =>
      (await workersOf(box)).map((worker) => worker.last_heartbeat).join();
    const first = await beats();
    await until(async () => (await beats()) !== first, 'they beat');
    sendSignal(pids, 'SIGSTOP');
    const from = performance.now();
    await until(() => performance.now() - from > 1.5 * LEASE_MS, 'more than a lease passes');
    const before = await beats();
    sendSignal(pids, 'SIGCONT');
    await until(async () => {
      const [old, now] = [before.split(','), (await beats()).split(',')];
      return now.every((beat, i) => beat !== old[i]);
    }, 'all of them beat again');
    for (const job of jobs) job.release();
    for (const { id } of jobs) await untilState(box, id, 'completed');
    expect(pids.every(isAlive)).toBe(true);
    expect(supervisor.output()).not.toMatch(/adopted|no longer registered/);
  })());
