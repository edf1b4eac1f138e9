import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Client } from '../../src/store/postgres/connection/client.ts';
import { makeTempSchema, onServer, type TempSchema } from '../support/postgres.ts';
import { type Result, type Sandbox, sandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';

/** The roles of these tests. `owner` creates the queue, `nobody` may only connect, and the others get the printed rights. */
const ROLES = ['owner', 'enqueue', 'look', 'view', 'work', 'nobody'] as const;
type Role = (typeof ROLES)[number];

let schema: TempSchema;
let queue: Sandbox;
const nameOf = (role: Role): string => `${role}_of_${schema.name}`;

function urlOf(role: Role): string {
  const url = new URL(schema.url);
  url.username = nameOf(role);
  url.password = 'secret';
  return url.href;
}

const run = (role: Role, ...args: string[]): Promise<Result> =>
  queue.run(args, { env: { QUEUECTL_DB: urlOf(role) } });
/** Runs statements as a role, one after the other. Returns the rows of the last one. */
const sql = (role: Role, ...statements: string[]): Promise<Record<string, unknown>[]> =>
  onServer(urlOf(role), async (client) => {
    let rows: Record<string, unknown>[] = [];
    for (const statement of statements) ({ rows } = await client.query(statement));
    return rows;
  });
const admin = (...statements: string[]) =>
  onServer(schema.url, async (client: Client) => {
    for (const statement of statements) await client.query(statement);
  });
const enqueueText = (job: object): string => `SELECT ${schema.name}.enqueue('${JSON.stringify(job)}') AS id`;

beforeAll(async () => {
  schema = await makeTempSchema();
  queue = sandbox();
  await admin(...ROLES.map((role) => `CREATE ROLE ${nameOf(role)} LOGIN PASSWORD 'secret'`));
  await admin(`GRANT CREATE ON DATABASE postgres TO ${nameOf('owner')}`);
  await run('owner', 'enqueue', '--id', 'first', '--env', 'KEY=hush', '--stdin', 'hush', 'true');
  // The rights are exactly those that the command prints in comments.
  const { stdout } = await run('owner', 'db', 'migrate', '--sql');
  const grants = [...stdout.matchAll(/^-- {3}(GRANT .*) TO (\w+)_role;$/gm)];
  for (const [, grant, role] of grants) await sql('owner', `${grant} TO ${nameOf(role as Role)}`);
});

afterAll(async () => {
  await queue.cleanup();
  // The server of a file that is run alone has ended already.
  if (!process.env.QUEUECTL_TEST_POSTGRES) return;
  await schema.drop();
  const owned = ROLES.map((role) => `DROP OWNED BY ${nameOf(role)}; DROP ROLE ${nameOf(role)}`);
  await admin(...owned);
});

test('a role that may only enqueue adds jobs with the function, and can do nothing else', async () => {
  const [added] = await sql('enqueue', enqueueText({ command: 'true', id: 'by-role', queue: 'mail' }));
  expect(added).toEqual({ id: 'by-role' });
  const [event] = JSON.parse(`[${(await run('owner', 'events', '--job', 'by-role')).stdout}]`);
  expect(event).toMatchObject({ kind: 'enqueued', actor: nameOf('enqueue') });
  const tables = ['job', 'log', 'event', 'counter', 'meta', 'queue', 'setting'];
  for (const table of tables) {
    await expect(sql('enqueue', `SELECT FROM ${schema.name}.${table}`)).rejects.toThrow('permission denied');
    await expect(sql('enqueue', `DELETE FROM ${schema.name}.${table}`)).rejects.toThrow('permission denied');
  }
  for (const role of ['look', 'view', 'nobody'] as const)
    await expect(sql(role, enqueueText({ command: 'true' }))).rejects.toThrow('permission denied');
  for (const field of [
    'state',
    'phase',
    'token',
    'attempt',
    'worker_id',
    'number',
    'created_at',
    'last_error',
  ])
    await expect(sql('enqueue', enqueueText({ command: 'true', [field]: 'x' }))).rejects.toThrow(field);
  for (const field of ['depends_on', 'unique_key', 'idempotency_key', 'hooks', 'stdin', 'argv'])
    await expect(sql('enqueue', enqueueText({ command: 'true', [field]: ['first'] }))).rejects.toThrow(field);
  const large = { command: 'true', env: { A: 'x'.repeat(4_200_000) } };
  await expect(sql('enqueue', enqueueText(large))).rejects.toThrow('the job is longer than');
});

test('nothing that a caller of the function creates takes the place of what the function uses', async () => {
  // The caller can even create functions and operators in the schema of the queue, which doctor warns of.
  await admin(
    `GRANT CREATE ON SCHEMA ${schema.name} TO ${nameOf('enqueue')}`,
    `GRANT CREATE ON DATABASE postgres TO ${nameOf('enqueue')}`,
  );
  expect((await run('owner', 'doctor')).stdout).toMatch(
    new RegExp(`rights\\s+warn\\s+${nameOf('enqueue')} may create objects`),
  );
  const evil = `evil_${schema.name}`;
  const traps = [evil, schema.name].flatMap((place) => [
    `CREATE FUNCTION ${place}.trap(bigint, integer) RETURNS bigint LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped as %'', current_user; END'`,
    `CREATE OPERATOR ${place}.& (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = ${place}.trap)`,
    `CREATE OPERATOR ${place}.>> (LEFTARG = bigint, RIGHTARG = integer, FUNCTION = ${place}.trap)`,
    ...['json_typeof(json)', 'octet_length(text)', 'floor(numeric)', 'clock_timestamp()'].map(
      (signature) =>
        `CREATE FUNCTION ${place}.${signature} RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END'`,
    ),
  ]);
  const tables = ['job', 'log', 'meta', 'queue', 'setting'].map(
    (table) => `CREATE TEMPORARY TABLE ${table} (key text, value text, number bigint, name text)`,
  );
  const [added] = await sql(
    'enqueue',
    `CREATE SCHEMA ${evil}`,
    ...traps,
    ...tables,
    `SET search_path = ${evil}, pg_temp, ${schema.name}, pg_catalog`,
    'SET transform_null_equals = on',
    enqueueText({ command: 'true', queue: 'new', timeout: 5, env: { A: 'b' }, tags: { a: 'b' } }),
  );
  expect((await run('owner', 'show', String(added!.id))).code).toBe(0);
  await admin(
    `REVOKE CREATE ON SCHEMA ${schema.name} FROM ${nameOf('enqueue')}`,
    `REVOKE CREATE ON DATABASE postgres FROM ${nameOf('enqueue')}`,
  );
});

test('a role that may only look can use every command that only reads', async () => {
  const commands = [
    'list',
    'status',
    'show first',
    'events',
    'stats',
    'queue list',
    'schedule list',
    'dlq list',
  ];
  commands.push(
    'worker list',
    'config list',
    'explain first',
    'metrics',
    'top --once',
    'logs first',
    'export',
  );
  for (const command of commands) {
    const { code, stderr } = await run('look', ...command.split(' '));
    expect({ command, code, stderr }).toEqual({
      command,
      code: 0,
      stderr: expect.not.stringContaining('error'),
    });
  }
  expect((await run('look', 'doctor')).stdout).toContain(`the role '${nameOf('look')}' may only look`);
  for (const command of ['enqueue true', 'cancel first', 'config set max-retries 5'])
    expect(await run('look', ...command.split(' '))).toMatchObject({ code: 5 });
  for (const table of ['event_number', 'meta', 'job'])
    await expect(sql('look', `SELECT FROM ${schema.name}.${table} FOR KEY SHARE`)).rejects.toThrow(
      'permission',
    );
});

test('a role that may only look can read all views', async () => {
  await run('owner', 'config', 'set', 'crash-limit', '7');
  const [setting] = await sql('look', `SELECT * FROM ${schema.name}.config WHERE key = 'crash-limit'`);
  expect(setting).toMatchObject({ value: '7', default_value: '5', updated_at: expect.any(Date) });
  const [job] = await sql('look', `SELECT * FROM ${schema.name}.jobs WHERE id = 'first'`);
  expect(job).toMatchObject({ queue: 'default', state: 'pending', env: { KEY: 'hush' }, stdin: 'hush' });
  for (const view of ['dlq_jobs', 'workers', 'schedules'])
    expect(await sql('look', `SELECT * FROM ${schema.name}.${view}`)).toEqual([]);
  for (const view of ['jobs', 'dlq_jobs', 'workers', 'config', 'schedules'])
    for (const role of ['enqueue', 'view', 'nobody'] as const)
      await expect(sql(role, `SELECT * FROM ${schema.name}.${view}`)).rejects.toThrow('permission denied');
});

test('a role that may look at the views sees neither variables nor standard input', async () => {
  const [job] = await sql('view', `SELECT * FROM ${schema.name}.jobs_without_env WHERE id = 'first'`);
  expect(job).toMatchObject({ id: 'first', queue: 'default', command: 'true', state: 'pending' });
  expect(JSON.stringify(job)).not.toContain('hush');
  expect(await sql('view', `SELECT * FROM ${schema.name}.schedules_without_env`)).toEqual([]);
  for (const table of ['job', 'stdin', 'schedule', 'output', 'event', 'jobs', 'schedules'])
    await expect(sql('view', `SELECT FROM ${schema.name}.${table}`)).rejects.toThrow('permission denied');
});

test('a role with the rights to work runs jobs', async () => {
  expect(await run('work', 'worker', 'start', '--drain', '--quiet')).toMatchObject({ code: 0 });
  expect(await run('work', 'wait', 'first')).toMatchObject({ code: 0 });
});

test('a role that may only connect cannot hold up events and settlements by locks', async () => {
  await run('owner', 'config', 'set', 'on-idle', 'true');
  await onServer(urlOf('nobody'), async (client) => {
    await client.query(`SELECT pg_advisory_lock(1, oid::int), pg_advisory_lock(2, oid::int) FROM pg_class
      WHERE relnamespace = '${schema.name}'::regnamespace`);
    expect(await run('work', 'enqueue', '--id', 'locked', 'true')).toMatchObject({ code: 0 });
    expect(await run('work', 'worker', 'start', '--drain', '--quiet')).toMatchObject({ code: 0 });
    expect(await run('work', 'events', '--job', 'locked', '--store-timeout', '5s')).toMatchObject({
      code: 0,
    });
  });
});

test('a queue is not created in a schema of another role, which doctor reports, too', async () => {
  const [mine, theirs] = [`mine_${schema.name}`, `theirs_${schema.name}`];
  const inSchema = (name: string, ...args: string[]): Promise<Result> => {
    const url = new URL(urlOf('owner'));
    url.searchParams.set('schema', name);
    return queue.run(args, { env: { QUEUECTL_DB: url.href } });
  };
  await admin(
    `CREATE SCHEMA ${theirs} AUTHORIZATION ${nameOf('nobody')}`,
    `GRANT USAGE, CREATE ON SCHEMA ${theirs} TO ${nameOf('owner')}`,
  );
  const refused = await inSchema(theirs, 'enqueue', 'true');
  expectRefusal(refused, 6, /belongs to another role/);
  expect(refused.stderr).toContain(`ALTER SCHEMA "${theirs}" OWNER TO "${nameOf('owner')}"`);
  const { stdout: script } = await inSchema(theirs, 'db', 'migrate', '--sql');
  await expect(admin(script)).rejects.toThrow('belongs to another role');
  await admin(`ALTER SCHEMA ${theirs} OWNER TO ${nameOf('owner')}`);
  expect(await inSchema(theirs, 'enqueue', 'true')).toMatchObject({ code: 0 });
  const rights = async () => (await inSchema(theirs, 'doctor')).stdout.match(/^rights\t.*$/gm);
  expect(await rights()).toEqual([expect.stringMatching(/ok\s+the role .* may work/)]);
  await admin(
    `ALTER SCHEMA ${theirs} OWNER TO ${nameOf('nobody')}`,
    `GRANT USAGE, CREATE ON SCHEMA ${theirs} TO ${nameOf('owner')}`,
  );
  expect(await rights()).toEqual([
    expect.stringContaining(`${nameOf('nobody')} owns the schema and may replace its tables`),
  ]);
  // A superuser or a group of the role may own the schema.
  for (const owner of ['CURRENT_USER', `group_${schema.name}`]) {
    await admin(
      ...(owner === 'CURRENT_USER' ? [] : [`CREATE ROLE ${owner} ROLE ${nameOf('owner')}`]),
      `CREATE SCHEMA ${mine} AUTHORIZATION ${owner}`,
      `GRANT USAGE, CREATE ON SCHEMA ${mine} TO ${nameOf('owner')}`,
    );
    expect(await inSchema(mine, 'enqueue', 'true')).toMatchObject({ code: 0 });
    expect((await inSchema(mine, 'doctor')).stdout).toMatch(/^rights\s+ok/m);
    await admin(`DROP SCHEMA ${mine} CASCADE`);
  }
  await admin(`DROP SCHEMA ${theirs} CASCADE`, `DROP ROLE group_${schema.name}`);
});

test('doctor warns of rights that every role has', async () => {
  const rights = async () => (await run('owner', 'doctor')).stdout.match(/^rights\t.*$/gm);
  await sql('owner', `GRANT EXECUTE ON FUNCTION ${schema.name}.enqueue(json) TO PUBLIC`);
  await sql('owner', `GRANT UPDATE ON ${schema.name}.job TO PUBLIC`);
  expect(await rights()).toEqual([
    expect.stringMatching(/warn\s+every role may enqueue jobs/),
    expect.stringMatching(/warn\s+every role may change tables/),
  ]);
  await sql('owner', `REVOKE EXECUTE ON FUNCTION ${schema.name}.enqueue(json) FROM PUBLIC`);
  await sql('owner', `REVOKE UPDATE ON ${schema.name}.job FROM PUBLIC`);
  expect(await rights()).toEqual([expect.stringMatching(/ok\s+the role .* may work/)]);
});
