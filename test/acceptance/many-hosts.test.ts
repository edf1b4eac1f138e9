import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stat } from '../../src/files/process-identity.ts';
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
} from '../support/hosts.ts';
import { argumentsOf, isAlive, killAll, sendSignal } from '../support/processes.ts';
import { configure, enqueue, type JobJson, until, untilState } from '../support/queuectl.ts';

test(
  'a host that is killed whole loses its job to another host, which counts it as lost',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await enqueueLongJob(box, 'one');
    await enqueueLongJob(box, 'once', 0, { at_most_once: true });
    await a.start('--concurrency', '2');
    await untilRuns(box, 'one', 1);
    await untilRuns(box, 'once', 1);
    await b.start('--concurrency', '2');
    await a.kill();
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
    expect(await untilState(box, 'once', 'dead')).toMatchObject({ attempts: 0, crashes: 1 });
    expect(runsOf(box, 'one')).toEqual([a.home, b.home]);
    expect(runsOf(box, 'once')).toEqual([a.home]);
  }),
);

test(
  'the guard stops the jobs of dead workers before another host starts them, and then ends',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await enqueueLongJob(box, 'one');
    await a.start();
    await untilRuns(box, 'one', 1);
    await b.start();
    sendSignal(managersOf(a), 'SIGKILL');
    await until(() => managersOf(a).length === 0, 'the workers are gone');
    expect(guardsOf(a).length).toBe(1);
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
    expect(runsOf(box, 'one')).toEqual([a.home, b.home]);
    expect(overlaps(box)).toEqual([]);
    await until(() => a.pids().length === 0, 'the guard has ended');
  }),
);

test(
  'a new supervisor adopts the jobs of dead workers, and no guard stops them',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await enqueueLongJob(box, 'one', 7);
    await a.start();
    await untilRuns(box, 'one', 1);
    const [oldGuard] = guardsOf(a);
    await b.start();
    sendSignal(managersOf(a), 'SIGKILL');
    const next = await a.start();
    await until(() => next.output().includes('job=one attempt=1 queue=default adopted'), 'adopted');
    // Two leases later, the old deadline has passed for long.
    const adoptedAt = performance.now();
    await until(() => performance.now() - adoptedAt > 8000, 'two leases pass');
    expect(isAlive(oldGuard!)).toBe(false);
    letGo(box);
    expect(await untilState(box, 'one', 'dead')).toMatchObject({ exit_code: 7, attempts: 1, crashes: 0 });
    expect(runsOf(box, 'one')).toEqual([a.home]);
  }),
);

test(
  'a host that was frozen for longer than its lease wakes up, changes nothing and goes on',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await enqueueLongJob(box, 'one');
    const workers = await a.start();
    await untilRuns(box, 'one', 1);
    await b.start();
    await a.freeze();
    const settled = await untilState(box, 'one', 'completed');
    const events = async () => (await box.run(['events', '--job', 'one', '--lines', '100'])).stdout;
    const before = await events();
    a.wake();
    await until(() => workers.output().split(' ready ').length > 2, 'a new worker is ready');
    await until(() => !a.pids().some((pid) => argumentsOf(pid).join(' ').includes('lock-one')), 'ended');
    expect(await box.json<JobJson>(['show', 'one'])).toMatchObject({ ...settled, state: 'completed' });
    expect(await events()).toEqual(before);
    expect(runsOf(box, 'one')).toEqual([a.home, b.home]);
    await b.kill();
    await enqueue(box, 'two', 'echo $QUEUECTL_HOME >>runs-two');
    await untilState(box, 'two', 'completed');
    expect(runsOf(box, 'two')).toEqual([a.home]);
  }),
);

for (const point of ['after-claim:1', 'before-spawn:1'])
  test(
    `a worker that was frozen at ${point} starts nothing after another host has run the job`,
    withHosts(async (box, a, b) => {
      await configure(box, QUICK);
      await enqueue(box, 'one', 'echo $QUEUECTL_HOME >>runs-one');
      box.start(['worker', 'start'], { env: { ...a.environment, QUEUECTL_CRASH_AT: `${point}:stop` } });
      const frozen = await until(() => a.pids().find((pid) => stat(pid)?.state === 'T'), 'it is frozen');
      await b.start();
      expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 1 });
      sendSignal([frozen], 'SIGCONT');
      await until(() => !isAlive(frozen), 'the worker has left');
      await b.kill();
      await enqueue(box, 'two', 'echo $QUEUECTL_HOME >>runs-two');
      await untilState(box, 'two', 'completed');
      expect([runsOf(box, 'one'), runsOf(box, 'two')]).toEqual([[b.home], [a.home]]);
    }),
  );

test(
  'a guard that dies is replaced, and no job starts until then',
  withHosts(async (box, a) => {
    await configure(box, QUICK);
    await enqueueLongJob(box, 'one');
    const workers = await a.start('--concurrency', '2');
    await untilRuns(box, 'one', 1);
    for (let round = 1; round <= 2; round++) {
      const [guard] = guardsOf(a);
      await killAll([guard!]);
      await until(() => workers.output().split('the guard exited').length > round, 'it is replaced');
      const [id] = [`after-${round}`];
      await enqueue(box, id, `touch ${id}`);
      await untilState(box, id, 'completed');
      expect(guardsOf(a).length).toBe(1);
    }
    // While the supervisor is suspended, it cannot start another guard.
    const supervisor = workers.pid;
    sendSignal([supervisor], 'SIGSTOP');
    await killAll(guardsOf(a));
    await enqueue(box, 'unguarded', 'touch unguarded');
    const heartbeat = async () =>
      (await box.json<{ last_heartbeat: string }[]>(['worker', 'list']))[0]!.last_heartbeat;
    for (let beats = 0, last = await heartbeat(); beats < 3; ) {
      const next = await heartbeat();
      if (next !== last) beats++;
      last = next;
    }
    expect(existsSync(join(box.directory, 'unguarded'))).toBe(false);
    sendSignal([supervisor], 'SIGCONT');
    await untilState(box, 'unguarded', 'completed');
    letGo(box);
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
    await box.run(['worker', 'stop']);
    await until(() => a.pids().length === 0, 'the guard has ended');
  }),
);

test(
  'a suspended worker keeps its job as long as another worker of its host renews the lease',
  withHosts(async (box, a, b) => {
    await configure(box, QUICK);
    await enqueueLongJob(box, 'one', 5);
    await a.start('--count', '2');
    await untilRuns(box, 'one', 1);
    await b.start();
    const [holder] = await until(
      async () =>
        (await box.json<{ pid: number; current_jobs: string[] }[]>(['worker', 'list']))
          .filter((worker) => worker.current_jobs.includes('one'))
          .map((worker) => worker.pid),
      'a worker holds the job',
    );
    sendSignal([holder!], 'SIGSTOP');
    const heldBy = async () => (await box.json<JobJson>(['show', 'one'])).worker_id;
    const first = await heldBy();
    await until(async () => (await heldBy()) !== first, 'the other worker has adopted the job');
    letGo(box);
    expect(await untilState(box, 'one', 'dead')).toMatchObject({ exit_code: 5, attempts: 1, crashes: 0 });
    expect(runsOf(box, 'one')).toEqual([a.home]);
    sendSignal([holder!], 'SIGCONT');
  }),
);

test(
  'after a stop, other workers need not wait for the lease, which is 2m by default',
  withHosts(async (box, a, b) => {
    await box.create();
    expect(await box.json(['config', 'get', 'lease'])).toMatchObject({ value: 120_000, default: 120_000 });
    await enqueueLongJob(box, 'one');
    await a.start();
    await untilRuns(box, 'one', 1);
    await b.start();
    await box.run(['worker', 'stop', '--force']);
    await until(() => a.pids().length + b.pids().length === 0, 'everything has ended');
    await b.start();
    expect(await untilState(box, 'one', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
    expect(overlaps(box)).toEqual([]);
  }),
);

test(
  'a lease that is too short for the grace period is refused with one line',
  withHosts(async (box) => {
    await box.create();
    const { code, stderr } = await box.run(['config', 'set', 'kill-grace', '2m']);
    expect(code).toBe(2);
    expect(stderr).toStartWith(
      'error: lease (2m) must be at least 135s on PostgreSQL if kill-grace is 2m and heartbeat-interval is 5s\n',
    );
    expect(await box.json(['config', 'get', 'kill-grace'])).toMatchObject({ text: '5s' });
    const set = await box.run(['config', 'set', 'lease', '15s']);
    expect([set.code, set.stderr]).toEqual([2, expect.stringContaining('lease (15s) must be at least 19s')]);
  }),
);
