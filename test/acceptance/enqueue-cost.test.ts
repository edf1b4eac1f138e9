import { beforeAll, expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import { bundledBuild, usesGlibc } from '../../scripts/executable.ts';
import { EXECUTABLE, enqueue, inSandbox, type Sandbox } from '../support/queuectl.ts';
import type { StartRecord } from '../support/record-start.ts';
import { inTempDir } from '../support/temp-dir.ts';

/*
 * These tests count what one `enqueue true` costs, in ways that do not depend on the machine. A script that enqueues in a loop pays this
 * for every job. If a limit is exceeded, load the new module only where it is needed, behind an import(). Raise the limit only
 * if `enqueue` itself needs more, and lower it after it needs less.
 */
const MOST_MODULES = 47;
const MOST_BYTES = 59_000;
const MOST_PREPARED = 10;
const MOST_EXECUTED = 10;
/** The syncs of a store that nobody else has open: SQLite creates the -wal, commits, and folds it back when it closes. */
const MOST_SYNCS_ALONE = 5;
/** A commit into a -wal that another process keeps open. SQLite then syncs the directory, too, once in each process. */
const MOST_SYNCS_BESIDE_OTHERS = 2;
/** Each module of the runtime costs up to two milliseconds. The executable for Linux replaces these two (scripts/executable.ts). */
const RUNTIME_MODULES = usesGlibc() ? [] : ['node:fs', 'node:path'];

const ROOT = resolve(import.meta.dir, '../..');
const STRACE = Bun.which('strace');

/** The parts of a bundle, as the bundler describes them. */
interface Metafile {
  outputs: Record<string, { bytes: number; inputs: Record<string, object> }>;
}

let record: StartRecord;
/** The files of the program that `enqueue` loads. */
let loaded: Metafile['outputs'][string][];
let texts: string[];

beforeAll(() =>
  inTempDir(async (directory) => {
    const program = join(realpathSync(directory), 'program');
    const outputs = await bundle(program);
    const db = join(directory, 'store', 'queue.db');
    mkdirSync(join(directory, 'store'), { mode: 0o700 });
    // The first enqueue creates the store.
    for (let i = 0; i < 2; i++) record = recordEnqueue(program, db, join(directory, 'record'));
    loaded = record.files.map((name) => outputs[`./${name}`]!);
    texts = record.files.map((name) => readFileSync(join(program, name), 'utf8'));
  }),
);

/** Bundles the program into a directory, in the same parts as the executable. */
async function bundle(program: string): Promise<Metafile['outputs']> {
  mkdirSync(program);
  const { metafile } = await Bun.build(bundledBuild('src/cli/main.ts', program));
  return metafile!.outputs;
}

function recordEnqueue(program: string, db: string, file: string): StartRecord {
  const preload = join(import.meta.dir, '../support/record-start.ts');
  const args = ['--no-install', '--preload', preload, join(program, 'main.js'), 'enqueue', 'true'];
  const env = { PATH: process.env.PATH!, HOME: program, QUEUECTL_DB: db, PROGRAM: program, RECORD: file };
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(readFileSync(file, 'utf8'));
}

test('enqueue loads no more modules than it needs', () => {
  const modules = loaded.flatMap(({ inputs }) => Object.keys(inputs));
  expect(modules).toContain('src/store/sqlite/insert-one.ts');
  expect(modules).not.toContain('src/core/jobs/job-fields.ts');
  expect(modules.length).toBeLessThanOrEqual(MOST_MODULES);
});

test('enqueue loads no more code than it needs', () => {
  const bytes = loaded.reduce((sum, part) => sum + part.bytes, 0);
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
});

test('enqueue loads only cheap modules of the runtime', () => {
  const transpiler = new Bun.Transpiler({ loader: 'js' });
  const imports = texts.flatMap((text) => transpiler.scanImports(text.replace(/^#!.*/, '')));
  const used = imports.filter(({ kind, path }) => kind === 'import-statement' && isBuiltin(path));
  const names = used.map(({ path }) => path.replace(/^(node:)?/, 'node:'));
  expect([...new Set(names)].sort()).toEqual(RUNTIME_MODULES);
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

test.skipIf(STRACE === null || !usesGlibc())(
  'enqueue uses so little memory that the runtime starts no thread for it',
  inSandbox(async (box) => {
    // This creates a store without stored settings.
    await enqueue(box, 'first', 'true');
    const args = ['-f', '-e', 'trace=clone,clone3', EXECUTABLE, 'enqueue', 'true'];
    const env = { PATH: process.env.PATH!, USER: 'user', QUEUECTL_HOME: box.home };
    const { status, stderr } = spawnSync(STRACE!, args, {
      cwd: box.directory,
      env,
      encoding: 'utf8',
      timeout: 20_000,
    });
    expect({ status, started: stderr.match(/^.*\bclone3?\(.*$/gm) }).toEqual({ status: 0, started: null });
  }),
);

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
