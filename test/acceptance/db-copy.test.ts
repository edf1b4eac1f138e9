/** Copies queues between SQLite and PostgreSQL. */

import { expect, test as plainTest } from 'bun:test';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fillQueue } from '../support/filled-queue.ts';
import { gatedCommand, gatedJob, ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { makeTempSchema, onServer } from '../support/postgres.ts';
import { enqueue, inSandbox, type Result, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

interface Copied {
  jobs: number;
  rows: Record<string, number>;
  paused_queues: number;
  lost_jobs: number;
  missing_outputs: number;
}

/** Defines a test with a queue in a file and the URL of a schema that does not exist yet. */
function copyTest(title: string, body: (box: Sandbox, url: string) => Promise<void>): void {
  plainTest.concurrent(
    title,
    inSandbox(async (box) => {
      const schema = await makeTempSchema();
      try {
        await body(box, schema.url);
      } finally {
        await box.run(['worker', 'stop', '--force', '--timeout', '20s', '--db', schema.url]);
        await schema.drop();
      }
    }),
  );
}

/** Returns the export of a queue without its first line, which has the epoch. */
async function exported(box: Sandbox, ...db: string[]): Promise<string> {
  const { code, stdout } = await box.run(['export', ...db]);
  expect(code).toBe(0);
  return stdout.slice(stdout.indexOf('\n'));
}

const LOGS = ['good', 'bad', 'loud', 'bytes', 'split --stdout', 'split --stderr'];

copyTest('a queue that moves to PostgreSQL and back exports the same lines', async (box, url) => {
  await fillQueue(box);
  await enqueue(box, 'parent', 'true', { delay: 3600 });
  await enqueue(box, 'child', 'cat', { depends_on: ['parent'], stdin: 'text', name: 'n' });
  const before = await exported(box);
  const copied = await box.json<Copied>(['db', 'copy', '--to', url]);
  expect(copied).toMatchObject({
    jobs: 11,
    paused_queues: 0,
    lost_jobs: 0,
    missing_outputs: 0,
  });
  expect(copied.rows).toMatchObject({ job: 11, schedule: 1, setting: 1, dependency: 1, 'output file': 3 });
  expect(await exported(box)).toBe(before);
  expect(await exported(box, '--db', url)).toBe(before);
  const back = ['--db', join(box.directory, 'back.db')];
  expect(await box.json<Copied>(['db', 'copy', '--db', url, '--to', back[1]!])).toMatchObject({ jobs: 11 });
  expect(await exported(box, ...back)).toBe(before);
  for (const db of [['--db', url], back]) {
    expect((await box.run(['db', 'check', ...db])).stdout).toBe('ok\n');
    for (const log of LOGS)
      expect((await box.run(['logs', ...log.split(' '), ...db])).stdout).toBe(
        (await box.run(['logs', ...log.split(' ')])).stdout,
      );
  }
  await box.json(['release', 'held', ...back]);
  expect((await box.run(['worker', 'start', '--drain', '--quiet', ...back])).code).toBe(0);
  expect(await box.json(['show', 'held', ...back])).toMatchObject({ state: 'completed' });
});

copyTest(
  'a copy to a target that is not empty, to itself or without a target is refused',
  async (box, url) => {
    await enqueue(box, 'one', 'true');
    const before = await exported(box);
    const other = ['--db', join(box.directory, 'other.db')];
    const copyTo = (...to: string[]): Promise<Result> => box.run(['db', 'copy', '--to', ...to]);
    await box.run(['enqueue', 'true', ...other]);
    expectRefusal(await copyTo(other[1]!), 4, /other\.db already has 1 job$/);
    await box.run(['queue', 'set', 'mail', '--concurrency', '2', '--db', url]);
    expectRefusal(await copyTo(url), 4, /already has queues$/);
    expectRefusal(await copyTo(join(box.home, 'queue.db')), 4, /queue\.db is the queue itself$/);
    expectRefusal(await copyTo('no/such/queue.db'), 5, /--to: there is no directory/);
    const unknown = await copyTo('mysql://db/app');
    expectRefusal(unknown, 5, /unknown kind of database 'mysql:'/);
    expect(unknown.stderr).toContain('check the target of the copy, which is given by --to\n');
    writeFileSync(join(box.directory, 'text'), 'This is not a database, but a text.');
    const text = await copyTo(join(box.directory, 'text'));
    expectRefusal(text, 5, /text is not a queuectl database$/);
    expect(text.stderr).toContain('check the target of the copy, which is given by --to\n');
    const byVariable = await box.run(['db', 'copy'], { env: { QUEUECTL_COPY_TO: box.directory } });
    expectRefusal(byVariable, 5, /is a directory, not a database file$/);
    expect(byVariable.stderr).toContain('which is given by QUEUECTL_COPY_TO\n');
    expectRefusal(await box.run(['db', 'copy']), 2, /db copy requires a target/);
    const missing = ['--db', join(box.directory, 'missing.db'), '--to', join(box.directory, 'new.db')];
    expectRefusal(await box.run(['db', 'copy', ...missing]), 5, /missing\.db/);
    expect(readdirSync(box.directory)).not.toContain('new.db');
    expect(await exported(box)).toBe(before);
  },
);

copyTest(
  'a copy waits with --pause until running jobs have ended, and leaves the source paused',
  async (box, url) => {
    await enqueue(box, 'later', 'true', { queue: 'mail', delay: 3600 });
    await enqueue(box, 'slow', 'true', { queue: 'slow', delay: 3600 });
    await box.json(['queue', 'pause', 'slow']);
    await box.startWorkers();
    const job = await startGatedJob(box, 'job');
    await enqueue(box, 'next', 'echo next >> next.log');
    expectRefusal(await box.run(['db', 'copy', '--to', url]), 4, /^error: 1 worker of .* is running/);
    const copying = box.start(['db', 'copy', '--pause', '--to', url]);
    const paused = async () =>
      (await box.json<{ name: string; paused: boolean }[]>(['queue', 'list'])).every((queue) => queue.paused);
    await until(paused, 'all queues are paused');
    expect(copying.child.exitCode).toBe(null);
    job.release();
    expect(await copying.closed).toBe(0);
    expect(copying.output()).toContain('pausing all queues');
    expect(copying.output()).toMatch(/stay paused\. Next: stop its workers, set QUEUECTL_DB='postgres:/);
    expect(await box.json(['show', 'job', '--db', url])).toMatchObject({ state: 'completed', attempts: 1 });
    expect(job.traces()).toEqual(ONE_RUN);
    expect(await box.json(['show', 'next'])).toMatchObject({ state: 'pending', attempts: 0 });
    const queues = await box.json<{ name: string; paused: boolean }[]>(['queue', 'list', '--db', url]);
    expect(queues.filter((queue) => queue.paused).map((queue) => queue.name)).toEqual(['slow']);
    await box.run(['worker', 'stop']);
    expect((await box.run(['worker', 'start', '--drain', '--quiet', '--db', url])).code).toBe(0);
    expect(await box.json(['show', 'next', '--db', url])).toMatchObject({ state: 'completed' });
    expect(await box.json(['show', 'next'])).toMatchObject({ state: 'pending' });
  },
);

test('a copy prints the absolute path of its target, quoted for a shell', async (box) => {
  await enqueue(box, 'one', 'true');
  for (const to of ['copy.db', 'the copy.db']) {
    const path = join(box.directory, to);
    const { stderr } = await box.run(['db', 'copy', '--to', to]);
    expect(stderr).toContain(`next: set QUEUECTL_DB=${to === 'copy.db' ? path : `'${path}'`} and start`);
  }
});

test('a refused copy lists all workers that run', async (box) => {
  await box.startWorkers('--count', '2');
  const ids = (await box.json<{ id: string }[]>(['worker', 'list'])).map(({ id }) => id);
  const refused = await box.run(['db', 'copy', '--to', 'copy.db']);
  expectRefusal(refused, 4, new RegExp(`2 workers of .* are running \\(${ids.join(', ')}\\)$`));
  expect(refused.stderr).toContain('stop them with queuectl worker stop. ');
});

copyTest('the hints of a copy contain no password', async (box, url) => {
  const secret = new URL(url);
  secret.password = 'hush-4711';
  const env = { QUEUECTL_DB: secret.href };
  const workers = box.start(['worker', 'start'], { env });
  await until(() => workers.output().includes(' ready '), 'the worker is ready');
  const byVariable = await box.run(['db', 'copy', '--to', 'copy.db'], { env });
  expect(byVariable.stderr).toMatch(/1 worker of postgres:\S+ is running/);
  const byFlag = await box.run(['db', 'copy', '--db', secret.href, '--to', 'copy.db']);
  expect(byFlag.stderr).toMatch(/1 worker of postgres:\S+ is running/);
  expect(byVariable.stderr + byFlag.stderr).not.toContain('hush-4711');
});

copyTest(
  'queues that appear while a copy waits are paused, too, and so are those of schedules',
  async (box, url) => {
    await box.json(['schedule', 'add', 'tick', '--every', '1h', '--queue', 'nightly', 'true']);
    await box.startWorkers();
    const job = await startGatedJob(box, 'job');
    const copying = box.start(['db', 'copy', '--pause', '--to', url]);
    const queues = () => box.json<{ name: string; paused: boolean }[]>(['queue', 'list']);
    await until(async () => (await queues()).every((queue) => queue.paused), 'all queues are paused');
    await enqueue(box, 'later', 'true', { queue: 'fresh', delay: 3600 });
    job.release();
    expect(await copying.closed).toBe(0);
    expect((await queues()).map(({ name, paused }) => [name, paused])).toEqual(
      ['default', 'fresh', 'nightly'].map((name) => [name, true]),
    );
    expect(await box.json(['show', 'later', '--db', url])).toMatchObject({ state: 'pending' });
  },
);

copyTest(
  'a job whose worker is gone runs again in the copy, unless it still runs or is at-most-once',
  async (box, url) => {
    const workers = await box.startWorkers('--concurrency', '2');
    const job = await startGatedJob(box, 'job');
    const once = await startGatedJob(box, 'once', 0, { at_most_once: true });
    process.kill(-workers.pid, 'SIGKILL');
    await workers.exit;
    expectRefusal(
      await box.run(['db', 'copy', '--to', url]),
      4,
      /job '(job|once)' is still running as process/,
    );
    job.release();
    once.release();
    await until(() => job.traces().length + once.traces().length === 4, 'both commands have ended');
    const copied = await until(async () => {
      const { code, stdout } = await box.run(['db', 'copy', '--json', '--to', url]);
      return code === 0 && (JSON.parse(stdout) as Copied);
    }, 'the processes have ended');
    expect(copied).toMatchObject({ jobs: 2, lost_jobs: 2 });
    expect(await box.json(['show', 'job', '--db', url])).toMatchObject({ state: 'pending', crashes: 1 });
    expect(await box.json(['show', 'once', '--db', url])).toMatchObject({ state: 'dead' });
    expect(await box.json(['show', 'job'])).toMatchObject({ state: 'processing' });
    expect((await box.run(['db', 'check', '--db', url])).stdout).toBe('ok\n');
  },
);

copyTest(
  'a copy that is killed leaves an empty target, and running it again completes it',
  async (box, url) => {
    await fillQueue(box);
    const before = await exported(box);
    const file = join(box.directory, 'back.db');
    for (const [db, to] of [
      [join(box.home, 'queue.db'), url],
      [url, file],
    ] as const) {
      const copy = ['db', 'copy', '--db', db, '--to', to];
      for (const point of [
        'before-import-output',
        'in-import-output',
        'after-import-output',
        'before-load',
        'in-load',
      ]) {
        const { code } = await box.run(copy, { env: { QUEUECTL_CRASH_AT: point } });
        expect({ point, code }).toEqual({ point, code: -1 });
        expect(await box.json(['list', '--db', to])).toEqual([]);
      }
      expect(await box.json<Copied>(copy)).toMatchObject({ jobs: 9 });
      expect(await exported(box, '--db', to)).toBe(before);
      expect((await box.run(['db', 'check', '--db', to])).stdout).toBe('ok\n');
      expectRefusal(await box.run(copy), 4, /already has 9 jobs$/);
      expect(await exported(box, '--db', to)).toBe(before);
    }
  },
);

copyTest('a copy that is killed after its commit is complete', async (box, url) => {
  await enqueue(box, 'one', 'true');
  const copy = ['db', 'copy', '--to', url];
  expect((await box.run(copy, { env: { QUEUECTL_CRASH_AT: 'after-load' } })).code).toBe(-1);
  expectRefusal(await box.run(copy), 4, /already has 1 job$/);
  expect(await exported(box, '--db', url)).toBe(await exported(box));
});

copyTest('a queue whose job was left running on another host is not copied', async (box, url) => {
  const far = { env: { QUEUECTL_DB: url, QUEUECTL_HOME: join(box.home, 'far') } };
  const job = gatedJob(box, 'job');
  const workers = box.start(['worker', 'start'], far);
  await until(() => workers.output().includes(' ready '), 'the worker is ready');
  expect((await box.run(['enqueue', '--id', 'job', gatedCommand('job')], far)).code).toBe(0);
  await until(() => job.traces().includes('start'), 'the job has started');
  expect((await box.run(['worker', 'stop', '--leave'], far)).code).toBe(0);
  expectRefusal(
    await box.run(['db', 'copy', '--db', url, '--to', 'copy.db']),
    4,
    /1 worker of .* is running|job 'job' (may still be|is still) running/,
  );
  expect(readdirSync(box.directory)).not.toContain('copy.db');
  job.release();
  expect((await box.run(['worker', 'start', '--drain', '--quiet'], far)).code).toBe(0);
  expect(job.traces()).toEqual(ONE_RUN);
  expect(await box.json<Copied>(['db', 'copy', '--db', url, '--to', 'copy.db'])).toMatchObject({ jobs: 1 });
});

copyTest('a copy has the parts of long output on other hosts that are in the database', async (box, url) => {
  const far = { env: { QUEUECTL_DB: url, QUEUECTL_HOME: join(box.home, 'far'), QUEUECTL_HOSTNAME: 'far' } };
  const command = 'echo first; yes | head -c 700000; echo last';
  expect((await box.run(['enqueue', '--id', 'long', command], far)).code).toBe(0);
  expect((await box.run(['worker', 'start', '--drain', '--quiet'], far)).code).toBe(0);
  const copied = await box.json<Copied>(['db', 'copy', '--db', url, '--to', 'copy.db']);
  expect(copied).toMatchObject({ jobs: 1, missing_outputs: 0, rows: { 'output file': 1 } });
  const { stdout } = await box.run(['logs', 'long', '--db', 'copy.db']);
  expect(stdout).toStartWith('first\ny\n');
  expect(stdout).toEndWith('y\nlast\n');
  expect(stdout.length).toBeLessThan(600_000);
  const there = ['db', 'copy', '--json', '--to', join(box.directory, 'there.db')];
  expect((await box.run(there, far)).code).toBe(0);
  const whole = await box.run(['logs', 'long', '--db', join(box.directory, 'there.db')]);
  expect(whole.stdout.length).toBe(700_011);
});

copyTest('of two copies to the same target at the same time, only one is saved', async (box, url) => {
  await fillQueue(box);
  const copies = await Promise.all([url, url].map((to) => box.run(['db', 'copy', '--to', to])));
  const saved = copies.filter(({ code }) => code === 0);
  expect(saved).toHaveLength(1);
  for (const { code, stderr } of copies)
    if (code === 0) expect(stderr).toContain('next: set QUEUECTL_DB=');
    else
      expect({ code, stderr }).toEqual({
        code: 4,
        stderr: expect.stringMatching(/was changed by somebody else|already has \d+ jobs/),
      });
  expect(await exported(box, '--db', url)).toBe(await exported(box));
});

copyTest('a copy with other numbers of rows than the original is not saved', async (box, url) => {
  await enqueue(box, 'one', 'echo short', { max_retries: 1 });
  await box.run(['worker', 'start', '--drain', '--quiet']);
  const { stdout: tables } = await box.run(['db', 'migrate', '--sql', '--db', url]);
  await onServer(url, (client) => client.query(tables));
  const { searchParams } = new URL(url);
  const schema = searchParams.get('schema')!;
  // The output of an attempt that is gone is skipped.
  await onServer(url, (client) =>
    client.query(`CREATE FUNCTION ${schema}.change() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN
        DELETE FROM ${schema}.attempt; RETURN NULL; END';
      CREATE TRIGGER change AFTER INSERT ON ${schema}.attempt FOR EACH ROW EXECUTE FUNCTION ${schema}.change()`),
  );
  const { code, stderr } = await box.run(['db', 'copy', '--to', url]);
  expect({ code: code > 0, error: stderr.split('\n').find((line) => line.startsWith('error:')) }).toEqual({
    code: true,
    error: expect.stringMatching(
      /differs from the original \(output: 1 expected, 0 found\), so nothing was copied$/,
    ),
  });
  expect(await box.json(['list', '--db', url])).toEqual([]);
  await onServer(url, (client) => client.query(`DROP FUNCTION ${schema}.change() CASCADE`));
  expect(await box.json<Copied>(['db', 'copy', '--to', url])).toMatchObject({ jobs: 1 });
  expect(await exported(box, '--db', url)).toBe(await exported(box));
});

copyTest('a copy shows its progress on a terminal, and never a password', async (box, url) => {
  await enqueue(box, 'one', 'true');
  const secret = new URL(url);
  secret.password = 'hush-4711';
  const shown = onTerminal(box, ['db', 'copy'], 24, 200, { env: { QUEUECTL_COPY_TO: secret.href } });
  expect(await shown.closed).toBe(0);
  expect(shown.output()).toContain('copied 1 job to postgres://');
  expect(shown.output()).not.toContain('hush-4711');
  const refused = await box.run(['db', 'copy', '--to', secret.href.replace('schema=', 'shema=')]);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).not.toContain('hush-4711');
  await untilState(box, 'one', 'pending');
});
