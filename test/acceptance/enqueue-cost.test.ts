import { beforeAll, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EXECUTABLE, inSandbox, type Sandbox } from '../support/queuectl.ts';
import type { StartRecord } from '../support/record-start.ts';
import { inTempDir } from '../support/temp-dir.ts';

/*
 * What one `enqueue true` costs, counted in ways that do not depend on the machine. A script that enqueues in a loop pays this
 * for every job. If a limit is exceeded, load the new module only where it is needed, behind an import(). Raise the limit only
 * if `enqueue` itself needs more, and lower it after it needs less.
 */
const MOST_MODULES = 114;
const MOST_BYTES = 232_500;
const MOST_PREPARED = 13;
const MOST_EXECUTED = 11;
/** The syncs of a store that nobody else has open: SQLite creates the -wal, commits, and folds it back when it closes. */
const MOST_SYNCS_ALONE = 5;
/** A commit into a -wal that another process keeps open. SQLite then syncs the directory, too, once in each process. */
const MOST_SYNCS_BESIDE_OTHERS = 2;
/** Other modules of the runtime cost up to two milliseconds each, such as node:crypto. */
const RUNTIME_MODULES = ['node:fs', 'node:path', 'node:sqlite'];

const ROOT = resolve(import.meta.dir, '../..');
const STRACE = Bun.which('strace');

let record: StartRecord;

beforeAll(() =>
  inTempDir((directory) => {
    const db = join(directory, 'store', 'queue.db');
    mkdirSync(join(directory, 'store'), { mode: 0o700 });
    // The first enqueue creates the store.
    for (let i = 0; i < 2; i++) record = recordEnqueue(db, join(directory, 'record'));
  }),
);

function recordEnqueue(db: string, file: string): StartRecord {
  const preload = join(import.meta.dir, '../support/record-start.ts');
  const args = ['--no-install', '--preload', preload, 'src/cli/main.ts', 'enqueue', 'true'];
  const env = { PATH: process.env.PATH!, USER: 'somebody', HOME: '/nowhere', QUEUECTL_DB: db, RECORD: file };
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(readFileSync(file, 'utf8'));
}

const sourceOf = (name: string): string => readFileSync(join(ROOT, 'src', name), 'utf8').replace(/^#!.*/, '');

test('enqueue loads no more modules than it needs', () => {
  expect(record.modules).toContain('store/sqlite/insert.ts');
  expect(record.modules.length).toBeLessThanOrEqual(MOST_MODULES);
});

test('enqueue loads no more code than it needs', () => {
  const transpiler = new Bun.Transpiler({ loader: 'ts', minifyWhitespace: true });
  const bytes = record.modules.map((name) => Buffer.byteLength(transpiler.transformSync(sourceOf(name))));
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(MOST_BYTES);
});

test('enqueue loads only cheap modules of the runtime', () => {
  const transpiler = new Bun.Transpiler({ loader: 'ts' });
  const imports = record.modules.flatMap((name) => transpiler.scanImports(sourceOf(name)));
  const used = imports.filter(({ kind, path }) => kind === 'import-statement' && path.startsWith('node:'));
  expect([...new Set(used.map(({ path }) => path))].sort()).toEqual(RUNTIME_MODULES);
});

test('enqueue runs no more statements than it needs', () => {
  expect(record.prepared.length).toBeLessThanOrEqual(MOST_PREPARED);
  expect(record.executed.length).toBeLessThanOrEqual(MOST_EXECUTED);
  expect(record.executed.filter((sql) => sql === 'BEGIN IMMEDIATE')).toHaveLength(1);
});

function syncsOfEnqueue(box: Sandbox): number {
  const args = ['-f', '-e', 'trace=fsync,fdatasync,sync_file_range,msync', EXECUTABLE, 'enqueue', 'true'];
  const env = { ...process.env, QUEUECTL_HOME: box.home };
  const { status, stderr } = spawnSync(STRACE!, args, { cwd: box.directory, env, encoding: 'utf8' });
  expect(status).toBe(0);
  return stderr.split('\n').filter((line) => /\b(f(data)?sync|sync_file_range|msync)\(/.test(line)).length;
}

test.skipIf(STRACE === null)(
  'enqueue syncs no more often than it needs, alone and beside a worker',
  inSandbox(async (box) => {
    await box.create();
    expect(syncsOfEnqueue(box)).toBeLessThanOrEqual(MOST_SYNCS_ALONE);
    // A worker of another queue keeps the store open but does not write when a job is added.
    await box.startWorkers('--queue', 'other');
    expect(syncsOfEnqueue(box)).toBeLessThanOrEqual(MOST_SYNCS_BESIDE_OTHERS);
  }),
);
