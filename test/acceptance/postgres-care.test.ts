import { expect, test } from 'bun:test';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { oldestSnapshot } from '../../src/store/postgres/sql/inspect.ts';
import { makeTempSchema, onServer } from '../support/postgres.ts';
import { type Result, type Sandbox, sandbox, until } from '../support/queuectl.ts';
import { onTerminal } from '../support/terminal.ts';

const PASSWORD = 'hush-4711';

interface Place {
  queue: Sandbox;
  /** Runs a command on the queue in PostgreSQL. */
  run(...args: string[]): Promise<Result>;
  /** The URL of the queue, with the role and the password. */
  url: string;
  /** The URL for a superuser without a password. */
  adminUrl: string;
  schema: string;
  role: string;
}

/** Runs a test with a schema that does not exist yet, and a role that needs a password and may create it. */
async function withRole(work: (place: Place) => Promise<void>): Promise<void> {
  const { url: adminUrl, name: schema, drop } = await makeTempSchema();
  const role = `role_of_${schema}`;
  const url = new URL(adminUrl);
  url.username = role;
  url.password = PASSWORD;
  const admin = (statement: string) => onServer(adminUrl, (client) => client.query(statement));
  await admin(`CREATE ROLE ${role} LOGIN PASSWORD '${PASSWORD}'`);
  await admin(`GRANT CREATE ON DATABASE postgres TO ${role}`);
  const queue = sandbox();
  const run = (...args: string[]) => queue.run(args, { env: { QUEUECTL_DB: url.href } });
  try {
    await work({ queue, run, url: url.href, adminUrl, schema, role });
  } finally {
    await queue.cleanup();
    await drop();
    await admin(`DROP OWNED BY ${role}; DROP ROLE ${role}`);
  }
}

const refused = (what: string) => ({ code: 5, stderr: expect.stringContaining(what) });

test('no command prints the password of the database', () =>
  withRole(async ({ queue, run, url, adminUrl, schema }) => {
    const outputs: string[] = [];
    const keep = async (...args: string[]): Promise<Result> => {
      const result = await run(...args);
      outputs.push(args.join(' '), result.stdout, result.stderr);
      return result;
    };
    const name = url.replace(`:${PASSWORD}`, '');
    expect((await keep('list')).stderr).toContain(`there is no queue at ${name} yet`);
    const onScreen = onTerminal(queue, ['enqueue', '--id', 'job1', 'true'], 24, 200, {
      env: { QUEUECTL_DB: url },
    });
    expect(await onScreen.closed).toBe(0);
    expect(onScreen.output()).toContain(`created ${name}`);
    outputs.push(onScreen.output());
    for (const args of [
      ...[
        ['status'],
        ['list'],
        ['show', 'job1'],
        ['worker', 'start', '--drain'],
        ['worker', 'stop'],
        ['doctor'],
        ['doctor', '--json'],
        ['db', 'check', '--json'],
      ],
      ...[
        ['db', 'migrate'],
        ['db', 'migrate', '--json'],
        ['db', 'migrate', '--sql'],
        ['db', 'renew'],
      ],
      ...[['db', 'renew', '--yes', '--json'], ['init'], ['init', '--json'], ['top', '--once'], ['export']],
      ...[
        ['backup', 'b.db'],
        ['restore', 'b.db'],
        ['db', 'repair'],
        ['events'],
        ['config', 'list', '--json'],
      ],
    ])
      await keep(...args);
    // Further output comes from errors.
    await onServer(adminUrl, (client) => client.query(`DROP TABLE ${schema}.counter CASCADE`));
    await keep('status');
    await keep('db', 'check');
    await onServer(adminUrl, (client) =>
      client.query(`UPDATE ${schema}.meta SET value = '99' WHERE key = 'schema'`),
    );
    for (const args of [['status'], ['enqueue', 'true'], ['db', 'migrate'], ['doctor']]) await keep(...args);
    const wrong = (change: (url: URL) => void): string => {
      const other = new URL(url);
      change(other);
      return other.href;
    };
    for (const other of [
      wrong((one) => (one.port = '1')),
      wrong((one) => (one.password = `${PASSWORD}-wrong`)),
      wrong((one) => (one.pathname = '/nothing')),
      wrong((one) => one.searchParams.set('listen', `postgres://a:${PASSWORD}@b/c`)),
      wrong((one) => one.searchParams.set('nonsense', PASSWORD)),
      wrong((one) => one.searchParams.set('sslmode', 'sometimes')),
    ])
      for (const args of [['list'], ['doctor'], ['init']]) {
        const { stdout, stderr } = await queue.run([...args, '--db', other, '--store-timeout', '0']);
        outputs.push(args.join(' '), stdout, stderr);
      }
    expect(outputs.filter((text) => text.includes('hush'))).toEqual([]);
    expect(outputs.join('\n')).toContain(name);
  }));

test('doctor checks the server, and fails if a crash of it could lose jobs', () =>
  withRole(async ({ queue, run, adminUrl, role, schema }) => {
    await run('enqueue', 'true');
    // Without this right, doctor cannot know how old the transactions of other tests are.
    await onServer(adminUrl, (client) => client.query(`GRANT pg_monitor TO ${role}`));
    const { code, stdout } = await run('doctor', '--json');
    const checks = new Map<string, { status: string; says: string }>(
      JSON.parse(stdout).checks.map((one: { check: string }) => [one.check, one]),
    );
    // The server of the tests runs without fsync, because that is faster.
    expect(code).toBe(1);
    expect(checks.get('fsync')).toMatchObject({ status: 'fail' });
    expect(checks.get('postgresql')).toMatchObject({ status: 'ok', says: expect.stringMatching(/^\d+/) });
    for (const name of ['server clock', 'dead rows', 'connections', 'old snapshots', 'schema', 'contents'])
      expect({ name, ...checks.get(name) }).toMatchObject({ name, status: 'ok' });
    await onServer(adminUrl, async (client) => {
      await client.query(`ALTER ROLE ${role} SET synchronous_commit = off`);
      await client.query(`ALTER TABLE ${schema}.log SET (autovacuum_enabled = off)`);
      await client.query(`INSERT INTO ${schema}.log (at) SELECT 0 FROM generate_series(1, 30000)`);
      await client.query(`DELETE FROM ${schema}.log`);
      await client.query('SELECT pg_stat_force_next_flush()');
    });
    const { stdout: later } = await run('doctor');
    expect(later).toContain('a crash of the server can lose the last changes');
    expect(later).toMatch(/dead rows\s+warn\s+\d\d,\d+ in log: a vacuum is overdue/);
    const { stdout: down } = await queue.run(['doctor', '--db', 'postgres://someone@127.0.0.1:1/app']);
    expect(down).toMatch(
      /postgresql\s+fail\s+the PostgreSQL server at 127.0.0.1:1 does not accept connections/,
    );
  }));

test('doctor finds old transactions, also those that have only written, and tells what it cannot see', () =>
  withRole(async ({ run, adminUrl, url, schema, role }) => {
    await run('enqueue', 'true');
    const snapshots = async () => {
      const { checks } = JSON.parse((await run('doctor', '--json')).stdout);
      const find = (name: string) => checks.find((one: { check: string }) => one.check === name);
      return { ...find('old snapshots'), dead: find('dead rows') };
    };
    await onServer(adminUrl, async (other) => {
      await other.query(
        `CREATE TABLE ${schema}.other (); ALTER TABLE ${schema}.log SET (autovacuum_enabled = off)`,
      );
      await other.query(`INSERT INTO ${schema}.log (at) SELECT 0 FROM generate_series(1, 30000)`);
      await other.query(`DELETE FROM ${schema}.log`);
      await other.query('SELECT pg_stat_force_next_flush()');
      // This session is idle in a transaction that has written. It has no snapshot, but a transaction id.
      await other.query(`BEGIN; INSERT INTO ${schema}.other DEFAULT VALUES`);
      const hidden = await snapshots();
      expect(hidden).toMatchObject({ status: 'warn', says: expect.stringContaining('cannot see') });
      expect(hidden.fix).toBe(`run in psql: GRANT pg_monitor TO "${role}"`);
      expect(hidden.dead).toMatchObject({ status: 'warn', fix: expect.not.stringContaining('VACUUM') });
      await onServer(adminUrl, (admin) => admin.query(`GRANT pg_monitor TO ${role}`));
      // The transaction is young, so it does no harm yet.
      expect(await snapshots()).toMatchObject({
        status: 'ok',
        dead: { fix: expect.stringContaining('VACUUM') },
      });
    });
    const [finding] = await onServer(url, async (client) =>
      onServer(adminUrl, async (other) => {
        await other.query(`BEGIN; INSERT INTO ${schema}.other DEFAULT VALUES`);
        return (await client.query(oldestSnapshot)).rows;
      }),
    );
    expect(finding).toMatchObject({ holder: expect.stringContaining('process'), hidden: 0 });
  }));

test('db check finds counters and sequences that do not match the rows', () =>
  withRole(async ({ run, adminUrl, schema }) => {
    expect(await run('db', 'check')).toMatchObject(refused('there is no queue at'));
    await run('enqueue', '--id', 'a', 'true');
    expect(await run('db', 'check')).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
    await onServer(adminUrl, async (client) => {
      await client.query(`SET search_path = ${schema}`);
      await client.query(`INSERT INTO log (at, new_queue, new_state) SELECT 0, number, 'dead' FROM queue`);
      await client.query(`ALTER SEQUENCE job_number_seq RESTART`);
      await client.query(`UPDATE job SET policy = '{'`);
      await client.query('DROP INDEX job_ready');
    });
    const { code, stdout, stderr } = await run('db', 'check');
    expect(code).toBe(1);
    expect(stdout.trim().split('\n')).toEqual([
      'job_ready is missing or invalid',
      'violated: the counters and the log match the rows (1 dead)',
      'violated: no number is used twice (job)',
      'violated: JSON fields of jobs contain valid JSON (a)',
    ]);
    expect(stderr).toContain('pg_restore');
  }));

test('backup, restore and db repair name the programs of PostgreSQL', () =>
  withRole(async ({ run }) => {
    await run('enqueue', 'true');
    for (const args of [
      ['backup', 'b.db'],
      ['restore', 'b.db', '--yes'],
      ['db', 'repair'],
    ]) {
      const { code, stderr } = await run(...args);
      expect(code).toBe(5);
      expect(stderr).toMatch(/pg_dump.*pg_restore/);
    }
  }));

test('db migrate --sql prints what an administrator runs for a role that may not create anything', () =>
  withRole(async ({ run, adminUrl, role }) => {
    await onServer(adminUrl, (client) => client.query(`REVOKE CREATE ON DATABASE postgres FROM ${role}`));
    expect(await run('enqueue', 'true')).toMatchObject(refused('queuectl db migrate --sql'));
    const { stdout: script, code } = await run('db', 'migrate', '--sql');
    expect(code).toBe(0);
    await onServer(adminUrl, (client) => client.query(script));
    expect(await run('enqueue', '--id', 'a', 'true')).toMatchObject({ code: 0 });
    const worked = await run('worker', 'start', '--drain');
    expect(worked.code).toBe(0);
    expect((await run('status', '--json')).stdout).toContain('"completed":1');
    const file = await run('export', 'all.jsonl');
    expect(file.code).toBe(0);
    expect(await run('import', 'all.jsonl', '--on-conflict', 'skip')).toMatchObject({ code: 0 });
    const { stdout: comments } = await run('db', 'migrate', '--sql');
    expect(comments.split('\n').filter((line) => !line.startsWith('--'))).toEqual(['']);
  }));

test('db migrate --sql and db renew are refused for a file', async () => {
  const queue = sandbox();
  await queue.create();
  expect(await queue.run(['db', 'migrate', '--sql'])).toMatchObject({ code: 2 });
  expect(await queue.run(['db', 'renew', '--yes'])).toMatchObject({ code: 2 });
  await queue.cleanup();
});

test('db renew asks first, and then settles the running jobs and keeps long output', () =>
  withRole(async ({ run }) => {
    await run('enqueue', '--id', 'long', 'seq 1 20000');
    await run('worker', 'start', '--drain');
    const before = (await run('logs', 'long')).stdout;
    expect(before).toContain('20000');
    expect(await run('db', 'renew')).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    const renewed = JSON.parse((await run('db', 'renew', '--yes', '--json')).stdout);
    expect(renewed).toMatchObject({ jobs: 1, running: 0, outputs: 1 });
    expect(renewed.epoch).not.toBe(renewed.origin);
    expect((await run('logs', 'long')).stdout).toBe(before);
  }));

test('db renew does not suggest a worker if this host runs the original, because it would run all jobs of the copy', () =>
  withRole(async ({ queue, run, url }) => {
    await run('enqueue', '--id', 'job', 'touch ran; while [ ! -e go ]; do sleep 0.05; done');
    const worker = queue.start(['worker', 'start', '--drain'], { env: { QUEUECTL_DB: url } });
    await until(() => existsSync(join(queue.directory, 'ran')), 'the job runs');
    const refusal = await run('db', 'renew', '--yes');
    expect(refusal.code).toBe(4);
    expect(refusal.stderr).toContain("job 'job' is still running");
    expect(refusal.stderr).toContain('this host also runs the original of the copy');
    expect(refusal.stderr).not.toContain('worker start');
    writeFileSync(join(queue.directory, 'go'), '');
    expect(await worker.exit).toBe(0);
  }));

test('a password file that other users can access is ignored, and the error says so', () =>
  withRole(async ({ queue, run, url, role }) => {
    await run('init');
    const file = join(queue.directory, 'my pass');
    writeFileSync(file, `*:*:*:${role}:${PASSWORD}\n`, { mode: 0o600 });
    const withFile = (...args: string[]) =>
      queue.run(args, { env: { QUEUECTL_DB: url.replace(`:${PASSWORD}`, ''), PGPASSFILE: file } });
    for (const mode of [0o644, 0o660, 0o601]) {
      chmodSync(file, mode);
      const refusal = await withFile('list');
      expect(refusal.code).toBe(5);
      expect(refusal.stderr).toContain(`The password file ${file} was ignored`);
      expect(refusal.stderr).toContain(`to use the file: chmod 600 '${file}'`);
    }
    chmodSync(file, 0o600);
    expect(await withFile('list')).toMatchObject({ code: 0 });
  }));
