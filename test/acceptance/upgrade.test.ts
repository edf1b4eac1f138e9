import { afterAll, beforeAll, expect } from 'bun:test';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SCHEMA_VERSION } from '../../src/store/schema/version.ts';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { buildNextVersion, throughProgram } from '../support/next-version.ts';
import { makeTempSchema, onServer } from '../support/postgres.ts';
import { untilWorkerOf } from '../support/processes.ts';
import { configure, type Result, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';
import { makePostgresStoreOf020, makeSqliteStoreOf020 } from '../support/store-of-020.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const NEXT_SCHEMA_VERSION = SCHEMA_VERSION + 1;
const tempDir = makeTempDir();
/** A value of RunOptions.through that runs the next version of queuectl. */
let throughNext: string[] = [];

beforeAll(() => {
  throughNext = throughProgram(buildNextVersion(tempDir.path));
}, 100_000);
afterAll(() => tempDir.remove());

const runNext = (box: Sandbox, ...args: string[]): Promise<Result> => box.run(args, { through: throughNext });

function schemaVersion(box: Sandbox): number {
  const db = new DatabaseSync(join(box.home, 'queue.db'), { timeout: 5000 });
  const { user_version: version } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  db.close();
  return version;
}

function setSchemaVersion(box: Sandbox, version: number): void {
  const db = new DatabaseSync(join(box.home, 'queue.db'), { timeout: 5000 });
  db.exec(`PRAGMA user_version = ${version}`);
  db.close();
}

const READING_COMMANDS = [
  ['status'],
  ['list'],
  ['show', 'job'],
  ['logs', 'job'],
  ['events'],
  ['explain', 'job'],
  ['wait', 'job', '--timeout', '1s', '--quiet'],
  ['stats'],
  ['metrics'],
  ['top', '--once'],
  ['dlq', 'list'],
  ['queue', 'list'],
  ['schedule', 'list'],
  ['worker', 'list'],
  ['config', 'list'],
  ['config', 'get', 'lease'],
  ['export'],
  ['backup', 'copy.db'],
  ['serve', '--port', '0'],
  ['cancel', 'job', '--dry-run'],
  ['prune', '--dry-run'],
];

/** More commands, which also open a store that a newer version has not migrated yet. */
const COMMANDS_FOR_EVERY_STORE = [
  ['enqueue', 'true'],
  ['cancel', 'job'],
  ['prune'],
  ['config', 'set', 'lease', '1m'],
  ['worker', 'start'],
  ['worker', 'stop'],
  ['db', 'check'],
  ['db', 'migrate'],
  ['db', 'migrate', '--dry-run'],
  ['import', '/dev/null'],
  ['db', 'copy', '--to', 'other.db'],
];
const EXPORT_AND_IMPORT = /the older queuectl \(queuectl export FILE\).*queuectl import FILE/;

test('commands that read refuse an older store and do not change it, but doctor, db check and completion work', async (box) => {
  await box.run(['enqueue', '--id', 'job', 'true']);
  for (const command of READING_COMMANDS) {
    const refused = await runNext(box, ...command);
    const code = command[0] === 'wait' ? 125 : 5;
    expectRefusal(
      refused,
      code,
      /queue.db has schema version \d+; this version of queuectl needs version \d+/,
    );
    expect(refused.stderr).toContain('to upgrade the database: queuectl db migrate');
  }
  expect((await runNext(box, 'doctor')).stdout).toMatch(/schema\twarn\t.*queuectl db migrate/);
  expect(await runNext(box, 'db', 'check')).toMatchObject({ code: 0, stdout: 'ok\n' });
  expect((await runNext(box, '__complete', 'show', '')).code).toBe(0);
  expect(schemaVersion(box)).toBe(SCHEMA_VERSION);
  expect((await box.run(['status'])).code).toBe(0);
});

test('a command that writes migrates an older store without workers, and the older version then refuses the store', async (box) => {
  await box.run(['enqueue', '--id', 'job', 'true']);
  expect(await runNext(box, 'cancel', 'job')).toMatchObject({ code: 0 });
  expect(schemaVersion(box)).toBe(NEXT_SCHEMA_VERSION);
  expect((await runNext(box, 'list', '--json')).stdout).toContain('"cancelled"');
  expectRefusal(await box.run(['list']), 5, /schema version/);
  expectRefusal(await box.run(['worker', 'stop']), 5, /schema version/);
});

test('restore migrates a backup of the older version', async (box) => {
  await box.run(['enqueue', '--id', 'job', 'true']);
  await box.run(['backup', 'older.db']);
  expect(await runNext(box, 'restore', 'older.db', '--yes')).toMatchObject({ code: 0 });
  expect(schemaVersion(box)).toBe(NEXT_SCHEMA_VERSION);
  expect((await runNext(box, 'list', '-q')).stdout).toBe('job\n');
  expect((await runNext(box, 'db', 'check')).stdout).toBe('ok\n');
});

test('enqueue and db migrate are refused while an older worker runs, and db migrate works after worker stop --leave', async (box) => {
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job', 3);
  for (const command of [
    ['enqueue', 'true'],
    ['db', 'migrate'],
  ]) {
    const refused = await runNext(box, ...command);
    expectRefusal(refused, 5, /1 worker of that version is running/);
    expect(refused.stderr).toMatch(/queuectl worker stop --leave, and then queuectl db migrate/);
  }
  const dryRun = await runNext(box, 'db', 'migrate', '--dry-run');
  expect(dryRun).toMatchObject({
    code: 0,
    stdout: `would upgrade the database from schema version ${SCHEMA_VERSION} to ${NEXT_SCHEMA_VERSION}\n`,
  });
  expect(schemaVersion(box)).toBe(SCHEMA_VERSION);
  expect(await runNext(box, 'worker', 'stop', '--leave')).toMatchObject({ code: 0 });
  expect(await workers.exit).toBe(0);
  const migrated = `upgraded the database from schema version ${SCHEMA_VERSION} to ${NEXT_SCHEMA_VERSION}\n`;
  expect(await runNext(box, 'db', 'migrate')).toMatchObject({ code: 0, stdout: migrated });
  expect((await runNext(box, 'db', 'migrate')).stdout).toContain('nothing to do');
  expect(schemaVersion(box)).toBe(NEXT_SCHEMA_VERSION);
  box.start(['worker', 'start'], { through: throughNext });
  const hasWorker = async () => (await runNext(box, 'worker', 'list')).stdout.includes('job');
  await until(hasWorker, 'job has a worker');
  job.release();
  const isDead = async () => (await runNext(box, 'show', 'job')).stdout.includes('dead');
  await until(isDead, 'job has ended');
  expect(job.traces()).toEqual(ONE_RUN);
});

test('worker start migrates the store, the older workers exit, and a newer one settles their running job', async (box) => {
  await configure(box, { 'heartbeat-interval': '200ms', lease: '1s' });
  const workers = await box.startWorkers('--count', '2');
  const job = await startGatedJob(box, 'job', 3);
  box.start(['worker', 'start'], { through: throughNext });
  expect(await workers.exit).toBe(5);
  expect(workers.output()).toMatch(
    /has schema version \d+; this version of queuectl supports versions up to/,
  );
  expect(schemaVersion(box)).toBe(NEXT_SCHEMA_VERSION);
  expectRefusal(await box.run(['enqueue', 'true']), 5, /schema version/);
  job.release();
  const isDead = async () => (await runNext(box, 'show', 'job')).stdout.includes('dead');
  await until(isDead, 'job has ended');
  const { stdout } = await runNext(box, 'show', 'job', '--json');
  expect(JSON.parse(stdout)).toMatchObject({ exit_code: 3, attempts: 1, crashes: 0 });
  expect(job.traces()).toEqual(ONE_RUN);
});

test('workers exit when the schema becomes newer, and new workers adopt their job when it is supported again', async (box) => {
  await configure(box, { 'heartbeat-interval': '200ms', lease: '1s' });
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job', 3);
  setSchemaVersion(box, NEXT_SCHEMA_VERSION);
  expect(await workers.exit).toBe(5);
  setSchemaVersion(box, SCHEMA_VERSION);
  await box.startWorkers();
  await untilWorkerOf(box, 'job');
  job.release();
  expect(await untilState(box, 'job', 'dead')).toMatchObject({ exit_code: 3, attempts: 1, crashes: 0 });
  expect(job.traces()).toEqual(ONE_RUN);
});

test('every command refuses a store of queuectl 0.2.0, does not change it, and names export and import', async (box) => {
  const path = join(box.home, 'queue.db');
  mkdirSync(box.home, { recursive: true, mode: 0o700 });
  makeSqliteStoreOf020(path);
  const before = readFileSync(path);
  const commands = [
    ...READING_COMMANDS,
    ...COMMANDS_FOR_EVERY_STORE,
    ['restore', path, '--db', 'other.db'],
    ['db', 'repair'],
  ];
  for (const command of commands) {
    const refused = await box.run(command);
    expectRefusal(
      refused,
      command[0] === 'wait' ? 125 : 5,
      /home\/queue.db has schema version 22; this version of queuectl supports versions from 27 on/,
    );
    expect(refused.stderr).toMatch(EXPORT_AND_IMPORT);
  }
  expect((await box.run(['doctor'])).stdout).toMatch(/database\tfail\t.*version 22;.*queuectl export FILE/);
  expect((await box.run(['__complete', 'show', ''])).code).toBe(0);
  expect(readFileSync(path).equals(before)).toBe(true);
  expect(readdirSync(box.home)).toEqual(['queue.db']);
});

test('every command refuses a queue of 0.2.0 in PostgreSQL and does not change it', async (box) => {
  const schema = await makeTempSchema();
  await makePostgresStoreOf020(schema);
  const contents = () =>
    onServer(schema.url, async (client) => [
      ...(await client.query(`SELECT * FROM ${schema.name}.meta ORDER BY key`)).rows,
      ...(await client.query(`SELECT * FROM ${schema.name}.job`)).rows,
    ]);
  const before = await contents();
  for (const command of [...READING_COMMANDS, ...COMMANDS_FOR_EVERY_STORE, ['db', 'migrate', '--sql']]) {
    // Another test has the backup of a queue in PostgreSQL, which pg_dump makes.
    if (command[0] === 'backup') continue;
    const refused = await box.run(command, { env: { QUEUECTL_DB: schema.url } });
    expectRefusal(
      refused,
      command[0] === 'wait' ? 125 : 5,
      /has schema version 1; this version of queuectl supports versions from 27 on/,
    );
    expect(refused.stderr).toMatch(EXPORT_AND_IMPORT);
  }
  const doctor = await box.run(['doctor'], { env: { QUEUECTL_DB: schema.url } });
  expect(doctor.stdout).toMatch(/store\tfail\t.*version 1;.*queuectl export FILE/);
  expect(await contents()).toEqual(before);
  await schema.drop();
});
