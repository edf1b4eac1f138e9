import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { SCHEMA_VERSION } from '../../src/store/sqlite/migrate.ts';
import { ONE_RUN, startGatedJob } from '../support/gated-job.ts';
import { buildNextVersion, throughProgram } from '../support/next-version.ts';
import { untilWorkerOf } from '../support/processes.ts';
import { configure, inSandbox, type Result, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { makeTempDir } from '../support/temp-dir.ts';

const NEWER = SCHEMA_VERSION + 1;
const temporary = makeTempDir();
let through: string[] = [];

beforeAll(() => {
  through = throughProgram(buildNextVersion(temporary.path));
}, 100_000);
afterAll(() => temporary.remove());

const next = (box: Sandbox, ...args: string[]): Promise<Result> => box.run(args, { through });

/** Runs `change` on the store, if given, and returns its schema version. */
function schemaOf(box: Sandbox, change = ''): number {
  const db = new DatabaseSync(join(box.home, 'queue.db'), { timeout: 5000 });
  if (change !== '') db.exec(change);
  const { user_version: found } = db.prepare('PRAGMA user_version').get() as { user_version: number };
  db.close();
  return found;
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

test(
  'commands that read refuse an older store and leave it as it is; doctor, db check and completion work',
  inSandbox(async (box) => {
    await box.run(['enqueue', '--id', 'job', 'true']);
    for (const command of READING_COMMANDS) {
      const refused = await next(box, ...command);
      const code = command[0] === 'wait' ? 125 : 5;
      expectRefusal(
        refused,
        code,
        /queue.db has schema version \d+; this version of queuectl needs version \d+/,
      );
      expect(refused.stderr).toContain('to upgrade the database: queuectl db migrate');
    }
    expect((await next(box, 'doctor')).stdout).toMatch(/schema\twarn\t.*queuectl db migrate/);
    expect(await next(box, 'db', 'check')).toMatchObject({ code: 0, stdout: 'ok\n' });
    expect((await next(box, '__complete', 'show', '')).code).toBe(0);
    expect(schemaOf(box)).toBe(SCHEMA_VERSION);
    expect((await box.run(['status'])).code).toBe(0);
  }),
);

test(
  'a command that writes migrates an older store without workers; the older version refuses it then',
  inSandbox(async (box) => {
    await box.run(['enqueue', '--id', 'job', 'true']);
    expect(await next(box, 'cancel', 'job')).toMatchObject({ code: 0 });
    expect(schemaOf(box)).toBe(NEWER);
    expect((await next(box, 'list', '--json')).stdout).toContain('"cancelled"');
    expectRefusal(await box.run(['list']), 5, /schema version/);
    expectRefusal(await box.run(['worker', 'stop']), 5, /schema version/);
  }),
);

test(
  'restore migrates a backup of the older version',
  inSandbox(async (box) => {
    await box.run(['enqueue', '--id', 'job', 'true']);
    await box.run(['backup', 'older.db']);
    expect(await next(box, 'restore', 'older.db', '--yes')).toMatchObject({ code: 0 });
    expect(schemaOf(box)).toBe(NEWER);
    expect((await next(box, 'list', '-q')).stdout).toBe('job\n');
    expect((await next(box, 'db', 'check')).stdout).toBe('ok\n');
  }),
);

test(
  'while an older worker runs, a write and db migrate are refused; after worker stop --leave they migrate',
  inSandbox(async (box) => {
    const workers = await box.startWorkers();
    const job = await startGatedJob(box, 'job', 3);
    for (const command of [
      ['enqueue', 'true'],
      ['db', 'migrate'],
    ]) {
      const refused = await next(box, ...command);
      expectRefusal(refused, 5, /1 worker of that version is running/);
      expect(refused.stderr).toMatch(/queuectl worker stop --leave, and then queuectl db migrate/);
    }
    const dry = await next(box, 'db', 'migrate', '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      stdout: `would upgrade the database from schema version ${SCHEMA_VERSION} to ${NEWER}\n`,
    });
    expect(schemaOf(box)).toBe(SCHEMA_VERSION);
    expect(await next(box, 'worker', 'stop', '--leave')).toMatchObject({ code: 0 });
    expect(await workers.exit).toBe(0);
    const migrated = `upgraded the database from schema version ${SCHEMA_VERSION} to ${NEWER}\n`;
    expect(await next(box, 'db', 'migrate')).toMatchObject({ code: 0, stdout: migrated });
    expect((await next(box, 'db', 'migrate')).stdout).toContain('nothing to do');
    expect(schemaOf(box)).toBe(NEWER);
    box.start(['worker', 'start'], { through });
    await until(async () => (await next(box, 'worker', 'list')).stdout.includes('job'), 'job has a worker');
    job.release();
    const ended = async (): Promise<boolean> => (await next(box, 'show', 'job')).stdout.includes('dead');
    await until(ended, 'job has ended');
    expect(job.traces()).toEqual(ONE_RUN);
  }),
);

test(
  'worker start migrates: the older workers exit, and their job continues and is settled by the newer ones',
  inSandbox(async (box) => {
    await configure(box, { 'heartbeat-interval': '200ms', lease: '1s' });
    const workers = await box.startWorkers('--count', '2');
    const job = await startGatedJob(box, 'job', 3);
    box.start(['worker', 'start'], { through });
    expect(await workers.exit).toBe(5);
    expect(workers.output()).toMatch(
      /has schema version \d+; this version of queuectl supports versions up to/,
    );
    expect(schemaOf(box)).toBe(NEWER);
    expectRefusal(await box.run(['enqueue', 'true']), 5, /schema version/);
    job.release();
    const ended = async (): Promise<boolean> => (await next(box, 'show', 'job')).stdout.includes('dead');
    await until(ended, 'job has ended');
    const { stdout } = await next(box, 'show', 'job', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ exit_code: 3, attempts: 1, crashes: 0 });
    expect(job.traces()).toEqual(ONE_RUN);
  }),
);

test(
  'workers exit when the schema becomes newer, and take over their job when it is supported again',
  inSandbox(async (box) => {
    await configure(box, { 'heartbeat-interval': '200ms', lease: '1s' });
    const workers = await box.startWorkers();
    const job = await startGatedJob(box, 'job', 3);
    schemaOf(box, `PRAGMA user_version = ${NEWER}`);
    expect(await workers.exit).toBe(5);
    schemaOf(box, `PRAGMA user_version = ${SCHEMA_VERSION}`);
    await box.startWorkers();
    await untilWorkerOf(box, 'job');
    job.release();
    expect(await untilState(box, 'job', 'dead')).toMatchObject({ exit_code: 3, attempts: 1, crashes: 0 });
    expect(job.traces()).toEqual(ONE_RUN);
  }),
);

test(
  'a store from before the first release is refused with a message that names export and import',
  inSandbox(async (box) => {
    await box.run(['enqueue', 'true']);
    schemaOf(box, 'PRAGMA user_version = 19');
    for (const command of [
      ['status'],
      ['enqueue', 'true'],
      ['worker', 'start'],
      ['worker', 'stop'],
      ['db', 'migrate'],
      ['restore', join(box.home, 'queue.db'), '--db', 'other.db'],
    ]) {
      const refused = await box.run(command);
      expectRefusal(
        refused,
        5,
        /home\/queue.db has schema version 19; this version of queuectl supports versions from 20 on/,
      );
      expect(refused.stderr).toMatch(/the older queuectl \(queuectl export FILE\).*queuectl import FILE/);
    }
    expect((await box.run(['doctor'])).stdout).toMatch(/database\tfail\t.*version 19;.*queuectl export FILE/);
    expect(schemaOf(box)).toBe(19);
  }),
);

test(
  'an export of a development version is imported with every row, except for old histograms',
  inSandbox(async (box) => {
    const file = join(import.meta.dir, '../support/exports/schema-18.jsonl');
    expect(await box.run(['import', file])).toMatchObject({ code: 0 });
    expect(await box.run(['db', 'check'])).toMatchObject({ code: 0, stdout: 'ok\n' });
    // The histograms of that version are not read, so nothing about times is compared in figures.
    const ofTimes = /^([wr]\d+|wait.*|run.*|oldest_ms)$/;
    const comparable = (row: Record<string, object>): unknown =>
      row.rollup === undefined
        ? row
        : Object.fromEntries(Object.entries(row.rollup).filter(([column]) => !ofTimes.test(column)));
    const rows = (text: string): unknown[] =>
      text
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => comparable(JSON.parse(line)));
    const { stdout } = await box.run(['export']);
    expect(rows(stdout)).toEqual(rows(readFileSync(file, 'utf8')));
  }),
);
