import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf } from '../faults/lab.ts';
import { isStopped } from '../faults/process-control.ts';
import { serve } from '../support/http.ts';
import { withOwnServer } from '../support/own-server.ts';
import { onServer as onPostgres } from '../support/postgres.ts';
import { configure, type JobJson, lines, type Sandbox, until } from '../support/queuectl.ts';

const OUTAGE = 'does not accept connections; running jobs continue';
const WORKERS = 2;

const gateOf = (box: Sandbox, group: string): string => join(box.directory, `gate-${group}`);
const openGate = (box: Sandbox, group: string): void => writeFileSync(gateOf(box, group), '');

const count = (text: string, part: string): number => text.split(part).length - 1;

async function lastHeartbeats(box: Sandbox): Promise<number[]> {
  const workers = await box.json<{ last_heartbeat: string }[]>(['worker', 'list']);
  return workers.map((worker) => Date.parse(worker.last_heartbeat));
}

test(
  'workers keep their jobs while the server is away, report it once, and settle them when it is back',
  withOwnServer(async (box, server) => {
    const started = join(box.directory, 'started');
    const ended = join(box.directory, 'ended');
    // Each job waits for a file, so that jobs run during the whole outage and end in it.
    const command = (id: string): string =>
      `echo ${id} >>${started}; while [ ! -e ${gateOf(box, id[0]!)} ]; do sleep 0.05; done; echo ${id} >>${ended}`;
    const jobs = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'b4', 'c1', 'c2'];
    const spec = jobs.map((id) => ({ id, command: command(id), max_retries: 1 }));
    await box.json(['config', 'set', 'heartbeat-interval', '300ms']);
    await box.run(['enqueue', '--file', '-'], { stdin: spec.map((one) => JSON.stringify(one)).join('\n') });
    const workers = await box.startWorkers('--count', String(WORKERS), '--concurrency', '2');
    for (const [round, group] of ['a', 'b'].entries()) {
      const running = jobs.filter((id) => id.startsWith(group));
      await until(() => running.every((id) => lines(started).includes(id)), `the jobs ${group} run`);
      await server.crash();
      await until(() => count(workers.output(), OUTAGE) >= WORKERS * (round + 1), 'the outage is reported');
      openGate(box, group);
      await until(() => running.every((id) => lines(ended).includes(id)), 'the jobs end in the outage');
      await server.startAgain();
      await until(
        async () =>
          (await box.json<JobJson[]>(['list', '--all'])).filter((job) => job.state === 'completed').length >=
          running.length * (round + 1),
        'the jobs are settled',
      );
      expect(count(workers.output(), OUTAGE)).toBe(WORKERS * (round + 1));
      // A worker reports the next outage only after a heartbeat.
      const settledAt = Date.now();
      await until(
        async () => (await lastHeartbeats(box)).every((at) => at > settledAt),
        'the heartbeats go on',
      );
    }
    openGate(box, 'c');
    const all = await until(async () => {
      const found = await box.json<JobJson[]>(['list', '--all']);
      return found.every((job) => job.state === 'completed') && found;
    }, 'all jobs are completed');
    expect(all.map((job) => [job.attempts, job.crashes])).toEqual(jobs.map(() => [1, 0]));
    expect(lines(started).sort()).toEqual(jobs);
    expect(lines(ended).sort()).toEqual(jobs);
  }),
);

test(
  'a worker that is stopped in an outage stores the results of its jobs before it ends',
  withOwnServer(async (box, server) => {
    const ended = join(box.directory, 'ended');
    const command = `while [ ! -e ${gateOf(box, 'a')} ]; do sleep 0.05; done; echo a >>${ended}`;
    await box.json(['config', 'set', 'heartbeat-interval', '300ms']);
    await box.json(['enqueue', command, '--id', 'a', '--at-most-once']);
    const workers = await box.startWorkers();
    await until(async () => (await box.json<JobJson>(['show', 'a'])).state === 'processing', 'the job runs');
    await server.crash();
    await until(() => workers.output().includes(OUTAGE), 'the outage is reported');
    process.kill(workers.pid, 'SIGTERM');
    openGate(box, 'a');
    await until(() => lines(ended).length === 1, 'the job ends in the outage');
    // A worker that did not wait would have ended by now.
    await box.run(['list', '--store-timeout', '3s']);
    expect(workers.child.exitCode).toBeNull();
    await server.startAgain();
    expect(await workers.exit).toBe(0);
    expect(await box.json<JobJson>(['show', 'a'])).toMatchObject({ state: 'completed', crashes: 0 });
    expect(lines(ended)).toEqual(['a']);
  }),
);

test(
  'workers keep their jobs while the server is read-only, as in a failover, and report it once',
  withOwnServer(async (box, server) => {
    const started = join(box.directory, 'started');
    const setReadOnly = (value: 'on' | 'off') =>
      onPostgres(server.url, async (client) => {
        await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
        await client.query('SELECT pg_reload_conf()');
      });
    const readOnly = 'is read-only; running jobs continue';
    await box.json(['config', 'set', 'heartbeat-interval', '300ms']);
    for (const id of ['a', 'b']) {
      const command = `echo ${id} >>${started}; while [ ! -e ${gateOf(box, 'a')} ]; do sleep 0.05; done`;
      await box.json(['enqueue', command, '--id', id, '--max-retries', '1']);
    }
    const workers = await box.startWorkers('--count', String(WORKERS), '--concurrency', '1');
    await until(() => lines(started).length === 2, 'the jobs run');
    await setReadOnly('on');
    await until(() => count(workers.output(), readOnly) >= WORKERS, 'both workers report it');
    const refused = await box.run(['enqueue', 'true', '--id', 'c']);
    expect([refused.code, refused.stderr.split('\n')[0]]).toEqual([
      5,
      expect.stringMatching(/is read-only$/),
    ]);
    openGate(box, 'a');
    await setReadOnly('off');
    await until(
      async () => (await box.json<JobJson[]>(['list', '--all'])).every((job) => job.state === 'completed'),
      'the jobs are settled',
    );
    const found = await box.json<JobJson[]>(['list', '--all']);
    expect(found.map((job) => [job.attempts, job.crashes])).toEqual([
      [1, 0],
      [1, 0],
    ]);
    expect(count(workers.output(), readOnly)).toBe(WORKERS);
    expect(workers.output()).not.toContain('starting a replacement');
  }),
);

test(
  'short jobs run once each while the server crashes several times',
  withOwnServer(async (box, server) => {
    const trace = join(box.directory, 'trace');
    const jobs = Array.from({ length: 120 }, (_, i) => `job-${String(i).padStart(3, '0')}`);
    const specs = jobs.map((id) => JSON.stringify({ id, command: `echo ${id} >>${trace}; sleep 0.05` }));
    await box.json(['config', 'set', 'heartbeat-interval', '300ms']);
    await box.run(['enqueue', '--file', '-'], { stdin: specs.join('\n') });
    await box.startWorkers('--count', String(WORKERS), '--concurrency', '2');
    for (const share of [0.2, 0.4, 0.6, 0.8]) {
      await until(() => lines(trace).length >= jobs.length * share, 'some jobs have run');
      await server.crash();
      await server.startAgain();
    }
    const states = async () => (await box.json<{ jobs: Record<string, number> }>(['status'])).jobs;
    await until(async () => (await states()).completed === jobs.length, 'all jobs are completed');
    expect(lines(trace).sort()).toEqual(jobs);
    const found = await box.json<JobJson[]>(['list', '--all']);
    expect(found.filter((job) => job.attempts !== 1 || job.crashes !== 0)).toEqual([]);
  }),
);

test(
  'a command waits at most --store-timeout for the server, and then exits with 5 and one line',
  withOwnServer(async (box, server) => {
    await box.json(['enqueue', 'true', '--id', 'before']);
    await server.crash();
    const failed = await box.run(['--store-timeout', '300ms', 'enqueue', 'true']);
    expect(failed.code).toBe(5);
    expect(failed.stderr).toMatch(
      /^error: the PostgreSQL server at 127\.0\.0\.1:\d+ does not accept connections\n/,
    );
    expect(failed.stdout).toBe('');
    const fromVariable = await box.run(['list'], { env: { QUEUECTL_STORE_TIMEOUT: '0' } });
    expect(fromVariable.code).toBe(5);
    const waiting = box.start(['enqueue', 'true', '--id', 'during', '--store-timeout', '60s']);
    await server.startAgain();
    expect(await waiting.closed).toBe(0);
    const jobs = await box.json<JobJson[]>(['list']);
    expect(jobs.map((job) => job.id).sort()).toEqual(['before', 'during']);
    const invalid = await box.run(['list', '--store-timeout', 'soon']);
    expect(invalid.code).toBe(2);
  }),
);

test(
  'commands that look after the database also wait at most --store-timeout, except doctor',
  withOwnServer(async (box, server) => {
    await box.run(['enqueue', 'true']);
    await server.crash();
    const commands = [
      ['db', 'check'],
      ['db', 'migrate'],
      ['db', 'migrate', '--sql'],
      ['worker', 'stop'],
    ];
    for (const args of commands) {
      const failed = await box.run([...args, '--store-timeout', '300ms']);
      expect({ args, code: failed.code }).toEqual({ args, code: 5 });
      expect(failed.stderr).toContain('does not accept connections');
    }
    expect((await box.run(['doctor', '--store-timeout', '1h'])).stdout).toContain(
      'does not accept connections',
    );
    const waiting = commands.map((args) => box.start([...args, '--store-timeout', '10m']));
    // They would have ended by now if they did not wait.
    await box.run(['list', '--store-timeout', '1s']);
    expect(waiting.map(({ child }) => child.exitCode)).toEqual(commands.map(() => null));
    await server.startAgain();
    expect(await Promise.all(waiting.map(({ closed }) => closed))).toEqual(commands.map(() => 0));
  }),
);

test(
  'a command waits at most --store-timeout for a server that does not answer',
  withOwnServer(async (box, server) => {
    await box.create();
    process.kill(server.pid, 'SIGSTOP');
    try {
      const failed = await box.run(['enqueue', 'true', '--store-timeout', '1s']);
      expect(failed.code).toBe(5);
      expect(failed.stderr).toMatch(/^error: the PostgreSQL server at 127\.0\.0\.1:\d+ does not answer\n/);
    } finally {
      process.kill(server.pid, 'SIGCONT');
    }
  }),
);

test(
  'the HTTP server answers 503 while the database server is away, and goes on when it is back',
  withOwnServer(async (box, server) => {
    await box.create();
    const site = await serve(box, '--store-timeout', '300ms');
    const stream = await site.events();
    await server.crash();
    await until(
      async () => (await site.call('GET', '/api/v1/jobs')).status === 503,
      'the server answers 503',
    );
    expect((await site.call('GET', '/api/v1/jobs')).json).toMatchObject({ code: 'store-unreachable' });
    await server.startAgain();
    await until(async () => (await site.call('GET', '/api/v1/jobs')).status === 200, 'the server answers');
    await box.json(['enqueue', 'true', '--id', 'later']);
    await until(
      async () =>
        stream.seen.some(({ data }) => data.job_id === 'later') ||
        (stream.isOver && (await site.call('GET', '/api/v1/jobs/later')).status === 200),
      'the stream continues, or has ended so that the client opens it again',
    );
  }),
);

test(
  'the guard stops jobs in an outage that is longer than the lease, and they run again without a crash',
  withOwnServer(async (box, server) => {
    await configure(box, {
      ...{ 'heartbeat-interval': '300ms', 'kill-grace': '500ms', lease: '4s' },
      'crash-limit': '1',
    });
    const started = join(box.directory, 'started');
    // The first run of one job cleans up after SIGTERM, and fails. That of the other job goes on until SIGKILL.
    const command = (
      id: string,
      after: string,
    ): string => `echo ${id} >>${started}; mkdir first-${id} 2>/dev/null || exit 0
      trap 'echo ${id} >>ended; ${after}' TERM; while :; do sleep 0.05; done`;
    for (const [id, after] of [
      ['one', 'exit 9'],
      ['two', ':'],
    ] as const)
      await box.json(['enqueue', JSON.stringify({ id, command: command(id, after), max_retries: 1 })]);
    const once = 'trap "echo once >>ended; exit 9" TERM; echo once >>started; while :; do sleep 0.05; done';
    await box.json(['enqueue', JSON.stringify({ id: 'once', command: once, at_most_once: true })]);
    await box.json(['enqueue', JSON.stringify({ id: 'three', command: 'true' })]);
    const workers = await box.startWorkers('--concurrency', '3');
    await until(() => lines(started).length === 3, 'three jobs run');
    await server.crash();
    await until(() => lines(join(box.directory, 'ended')).length === 3, 'the guard has stopped the jobs');
    await server.startAgain();
    const all = await until(async () => {
      const found = await box.json<JobJson[]>(['list', '--all']);
      return found.every((job) => ['completed', 'dead'].includes(job.state)) && found;
    }, 'all jobs have ended');
    expect(all.map((job) => [job.id, job.state, job.attempts, job.crashes]).sort()).toEqual([
      ['once', 'dead', 0, 0],
      ['one', 'completed', 1, 0],
      ['three', 'completed', 1, 0],
      ['two', 'completed', 1, 0],
    ]);
    expect((await box.run(['show', 'once'])).stdout).toContain('stopped because its host could not renew');
    expect(workers.output()).toContain('the lease of this host could not be renewed; stopping');
  }),
);

/** A supervisor and its workers obey a signal within this time, even without their store. */
const STOP_LIMIT_MS = 2000;

for (const [who, point, signal] of [
  ['a supervisor', 'before-registerSupervisor', 'SIGTERM'],
  ['a worker', 'before-register', 'SIGINT'],
] as const)
  test(
    `worker start obeys ${signal} while ${who} cannot register because the server is away`,
    withOwnServer(async (box, server) => {
      await box.create();
      const workers = box.start(['worker', 'start'], { env: { QUEUECTL_CRASH_AT: `${point}:1:stop` } });
      const pids = (): number[] => [workers.pid, ...childrenOf(workers.pid)];
      const frozen = await until(() => pids().find(isStopped), 'a process is suspended before it registers');
      await server.crash();
      process.kill(frozen, 'SIGCONT');
      await until(() => workers.output().includes('does not accept connections'), 'the reason is reported');
      const sentAt = performance.now();
      process.kill(workers.pid, signal);
      expect(await workers.exit).toBe(0);
      expect(performance.now() - sentAt).toBeLessThan(STOP_LIMIT_MS);
      await server.startAgain();
    }),
  );
