import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stat } from '../../src/files/proc-stat.ts';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import { addHost, type TestHost } from '../support/hosts.ts';
import {
  enqueueLongJob,
  guardsOf,
  letGo,
  managersOf,
  overlaps,
  QUICK,
  runsOf,
  untilRuns,
  withHosts,
} from '../support/hosts-with-jobs.ts';
import { argumentsOf, isAlive, sendSignal } from '../support/processes.ts';
import { configure, enqueue, type Running, type Sandbox, until, untilState } from '../support/queuectl.ts';

/** A lease of which enough is left when the keeper has replaced a guard. */
const LONGER = { ...QUICK, lease: '24s' };

const untilPassed = (ms: number): Promise<unknown> => {
  const since = performance.now();
  return until(() => performance.now() - since > ms, `${ms} ms pass`);
};

test(
  'a guard that is suspended is replaced, and the jobs go on',
  withHosts(async (box, a) => {
    await configure(box, QUICK);
    await enqueueLongJob(box, 'one');
    const workers = await a.start('--concurrency', '2');
    await untilRuns(box, 'one', 1);
    const [guard] = guardsOf(a);
    sendSignal([guard!], 'SIGSTOP');
    await until(() => !isAlive(guard!), 'the guard was killed');
    expect(workers.output()).toContain('the guard does not respond; killing it\n');
    await enqueue(box, 'after', 'touch after');
    await untilState(box, 'after', 'completed');
    expect(guardsOf(a).filter((pid) => pid !== guard).length).toBe(1);
    letGo(box);
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
    expect(runsOf(box, 'one')).toEqual([a.home]);
  }),
  100_000,
);

test(
  'no job starts while the guard is suspended, and the running one goes on',
  withHosts(async (box, a) => {
    await configure(box, QUICK);
    await enqueueLongJob(box, 'one');
    const { pid: supervisor } = await a.start('--concurrency', '2');
    await untilRuns(box, 'one', 1);
    // While the supervisor is suspended, it cannot replace the guard.
    sendSignal([supervisor, ...guardsOf(a)], 'SIGSTOP');
    await untilPassed(3000);
    await enqueue(box, 'unguarded', 'touch unguarded');
    await untilPassed(3000);
    expect(existsSync(join(box.directory, 'unguarded'))).toBe(false);
    sendSignal([supervisor, ...guardsOf(a)], 'SIGCONT');
    await untilState(box, 'unguarded', 'completed');
    letGo(box);
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
  }),
  100_000,
);

/**
 * Starts a job on a host that reaches the store through a proxy, and workers on `b`, which take over the job after the lease. `body`
 * cuts the host off, and returns a check for the end.
 */
async function startBehindProxy(box: Sandbox, b: TestHost, body: (scene: ProxyScene) => Promise<() => void>) {
  const proxy = await startCuttingProxy(box.environment.QUEUECTL_DB!);
  const host = addHost(box, 'far', { url: proxy.url });
  try {
    await enqueueLongJob(box, 'one');
    const workers = await host.start();
    await untilRuns(box, 'one', 1);
    await b.start();
    const check = await body({ host, workers, cut: proxy.freeze });
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
    expect(runsOf(box, 'one')).toEqual([host.home, b.home]);
    expect(overlaps(box)).toEqual([]);
    check();
  } finally {
    proxy.close();
    await host.kill();
  }
}

interface ProxyScene {
  host: TestHost;
  workers: Running;
  /** Cuts the host off from the store. */
  cut(): void;
}

test(
  'a worker ends its jobs before the lease is over if the guard and the supervisor are suspended',
  withHosts(async (box, _, b) => {
    await configure(box, QUICK);
    await startBehindProxy(box, b, async ({ host, workers, cut }) => {
      sendSignal([...guardsOf(host), workers.pid], 'SIGSTOP');
      cut();
      return () =>
        expect(workers.output()).toContain('the guard does not respond; this worker stops the jobs');
    });
  }),
  100_000,
);

test(
  'the next guard ends the jobs of killed workers before the lease is over',
  withHosts(async (box, _, b) => {
    await configure(box, LONGER);
    await startBehindProxy(box, b, async ({ host, workers, cut }) => {
      const [guard] = guardsOf(host);
      sendSignal([guard!], 'SIGSTOP');
      cut();
      const isWorker = (pid: number): boolean => argumentsOf(pid).includes('__worker');
      sendSignal(managersOf(host).filter(isWorker), 'SIGKILL');
      return () =>
        expect([workers.output().includes('stopping 1 job'), isAlive(guard!)]).toEqual([true, false]);
    });
  }),
  100_000,
);

test(
  'a guard stays for the jobs of killed workers if the only other guard is suspended',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await a.start('--queue', 'none');
    const idle = [...managersOf(a), ...guardsOf(a)];
    await enqueueLongJob(box, 'one');
    await a.start();
    await untilRuns(box, 'one', 1);
    sendSignal(idle, 'SIGSTOP');
    sendSignal(
      managersOf(a).filter((pid) => !idle.includes(pid)),
      'SIGKILL',
    );
    await b.start();
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
    expect(runsOf(box, 'one')).toEqual([a.home, b.home]);
    expect(overlaps(box)).toEqual([]);
  }),
  100_000,
);

test(
  'the guards of two supervisors that are killed together do not rely on each other',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await a.start('--queue', 'none');
    await enqueueLongJob(box, 'one');
    await a.start();
    await untilRuns(box, 'one', 1);
    sendSignal(managersOf(a), 'SIGKILL');
    await b.start();
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
    expect(overlaps(box)).toEqual([]);
    await until(() => guardsOf(a).length === 0, 'the guards have ended');
  }),
  100_000,
);

test(
  'a guard stays for the jobs of killed workers until the guard of the next supervisor runs',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await enqueueLongJob(box, 'one');
    await a.start();
    await untilRuns(box, 'one', 1);
    sendSignal(managersOf(a), 'SIGKILL');
    // The next supervisor is suspended just before it starts its guard.
    const env = { ...a.environment, QUEUECTL_CRASH_AT: 'before-start:1:stop' };
    const next = box.start(['worker', 'start'], { env });
    await until(() => stat(next.pid)?.state === 'T', 'the next supervisor is suspended');
    await b.start();
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
    expect(runsOf(box, 'one')).toEqual([a.home, b.home]);
    expect(overlaps(box)).toEqual([]);
  }),
  100_000,
);
