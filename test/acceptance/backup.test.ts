import { expect } from 'bun:test';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openDatabase } from '../support/database.ts';
import { startGatedJob } from '../support/gated-job.ts';
import { killAll, workersOf } from '../support/processes.ts';
import { configure, enqueue, lines, type Sandbox, until, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest, concurrentTest as test } from '../support/sandbox-test.ts';

const pathIn = (box: Sandbox, name = 'backup.db'): string => join(box.directory, name);

function epochOf(path: string): string {
  const db = new DatabaseSync(path, { readOnly: true });
  const { value } = db.prepare("SELECT value FROM meta WHERE key = 'epoch'").get() as { value: string };
  db.close();
  return value;
}

test('a backup taken while workers run restores to a queue that completes every job', async (box) => {
  const jobCount = 300;
  const jsonLines = Array.from(
    { length: jobCount },
    (_, i) => `{"id":"j${i}","command":"echo $QUEUECTL_JOB_ID >>traces"}`,
  );
  await box.run(['enqueue', '--file', '-'], { stdin: jsonLines.join('\n') });
  const workers = box.start(['worker', 'start', '--count', '2', '--concurrency', '2', '--drain', '--quiet']);
  await until(() => lines(pathIn(box, 'traces')).length > 40, 'some jobs have run');
  const summary = await box.json<{ jobs: number }>(['backup', pathIn(box)]);
  expect(summary.jobs).toBe(jobCount);
  await workers.exit;
  expect(statSync(pathIn(box)).mode & 0o777).toBe(0o600);
  const restoredDb = join(box.directory, 'other.db');
  await box.json(['restore', pathIn(box), '--db', restoredDb]);
  expect(epochOf(restoredDb)).not.toBe(epochOf(join(box.home, 'queue.db')));
  expect((await box.run(['worker', 'start', '--drain', '--quiet', '--db', restoredDb])).code).toBe(0);
  const status = await box.json<{ counts: Record<string, number> }>(['status', '--db', restoredDb]);
  expect(JSON.stringify(status)).toContain(`"completed":${jobCount}`);
  expect(new Set(lines(pathIn(box, 'traces'))).size).toBe(jobCount);
  expect(readdirSync(box.directory).filter((name) => name.includes('.draft'))).toEqual([]);
});

test('a backup stores a running attempt as lost, and its job as pending, or as dead if it is at-most-once', async (box) => {
  await box.startWorkers('--concurrency', '2');
  const job = await startGatedJob(box, 'job');
  await enqueue(box, 'once', 'until test -e go; do sleep 0.05; done', { at_most_once: true });
  await untilState(box, 'once', 'processing');
  await box.json(['backup', pathIn(box)]);
  const showInBackup = (id: string) => box.json(['show', id, '--db', pathIn(box)]);
  expect(await showInBackup('job')).toMatchObject({ state: 'pending', attempts: 0, crashes: 1 });
  expect(await showInBackup('once')).toMatchObject({ state: 'dead', crashes: 1 });
  expect(await box.json(['worker', 'list', '--db', pathIn(box)])).toEqual([]);
  job.release();
  writeFileSync(join(box.directory, 'go'), '');
});

test('restore is refused while workers or commands run, and requires --yes to replace jobs', async (box) => {
  await enqueue(box, 'first', 'true', { delay: 3600 });
  await box.json(['backup', pathIn(box)]);
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'second');
  expectRefusal(await box.run(['restore', '--yes', pathIn(box)]), 5, /in use by process/);
  await killAll([workers.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
  expectRefusal(await box.run(['restore', '--yes', pathIn(box)]), 4, /'second' is still running/);
  job.release();
  await until(() => job.traces().length === 2, 'the job has ended');
  await until(async () => (await box.run(['restore', pathIn(box)])).code === 2, 'only --yes is missing');
  expectRefusal(await box.run(['restore', pathIn(box)]), 2, /replace .* \(2 jobs\)/);
  expect(await box.json<unknown[]>(['list'])).toHaveLength(2);
  const { kept } = await box.json<{ kept: string }>(['restore', '--yes', pathIn(box)]);
  expect(await box.json<{ id: string }[]>(['list'])).toMatchObject([{ id: 'first' }]);
  expect(await box.json<unknown[]>(['list', '--db', kept])).toHaveLength(2);
});

test('a backup with --with-output contains long output, and a restored backup without it uses output that still exists', async (box) => {
  await enqueue(box, 'loud', 'seq 10000');
  await box.run(['worker', 'start', '--drain', '--quiet']);
  const output = (await box.run(['logs', 'loud'])).stdout;
  expect(output.length).toBeGreaterThan(16 * 1024);
  expect(await box.json(['backup', pathIn(box)])).toMatchObject({ outputs: 0, outputs_left: 1 });
  expect(await box.json(['backup', '--with-output', pathIn(box, 'all.db')])).toMatchObject({ outputs: 1 });
  expect((await box.run(['logs', 'loud', '--db', pathIn(box, 'all.db')])).stdout).toBe(output);
  const { kept } = await box.json<{ kept: string }>(['restore', '--yes', pathIn(box)]);
  expect((await box.run(['logs', 'loud'])).stdout).toBe(output);
  expect((await box.run(['logs', 'loud', '--db', kept])).stdout).toBe(output);
  const restoredDb = join(box.directory, 'new.db');
  await box.json(['restore', pathIn(box, 'all.db'), '--db', restoredDb]);
  expect((await box.run(['logs', 'loud', '--db', restoredDb])).stdout).toBe(output);
});

test('both streams of split output are backed up and restored, trimmed or not', async (box) => {
  await configure(box, { 'output-limit': '64K' });
  await enqueue(box, 'split', 'seq 300000; seq 9000 >&2', { split_output: true });
  await enqueue(box, 'quiet', 'seq 300000 >&2', { split_output: true });
  await box.run(['worker', 'start', '--drain', '--quiet']);
  await box.json(['backup', '--with-output', pathIn(box)]);
  const restoredDb = join(box.directory, 'new.db');
  await box.json(['restore', pathIn(box), '--db', restoredDb]);
  for (const id of ['split', 'quiet']) {
    for (const stream of ['--stdout', '--stderr']) {
      const logs = async (...db: string[]) => (await box.run(['logs', id, stream, ...db])).stdout;
      const output = await logs();
      expect(output === '').toBe(id === 'quiet' && stream === '--stdout');
      expect(await logs('--db', pathIn(box))).toBe(output);
      expect(await logs('--db', restoredDb)).toBe(output);
    }
  }
});

test('a backup never overwrites a file without --force, and never a store in use', async (box) => {
  await enqueue(box, 'job', 'true');
  writeFileSync(pathIn(box), 'mine');
  expectRefusal(await box.run(['backup', pathIn(box)]), 4, /already exists/);
  expect(readFileSync(pathIn(box), 'utf8')).toBe('mine');
  expectRefusal(await box.run(['backup', '--force', join(box.home, 'queue.db')]), 2, /in use/);
  expectRefusal(
    await box.run(['backup', join(box.directory, 'nowhere', 'x.db')]),
    2,
    /nowhere does not exist/,
  );
  expect((await box.run(['backup', '--force', pathIn(box)])).code).toBe(0);
  expectRefusal(
    await box.run(['backup', pathIn(box, 'no.db'), '--db', pathIn(box, 'none.db')]),
    5,
    /no such file/,
  );
  expect(existsSync(pathIn(box, 'none.db'))).toBe(false);
});

/** Files that restore refuses, with the exit code and the message of the refusal. */
const UNUSABLE_FILES: Record<string, { make(path: string): void; code: number; message: RegExp }> = {
  text: {
    make: (path) => writeFileSync(path, 'dear diary\n'.repeat(500)),
    code: 5,
    message: /not a queuectl database/,
  },
  'a missing file': { make: () => {}, code: 2, message: /does not exist/ },
  'a directory': { make: (path) => mkdirSync(path), code: 5, message: /^error: / },
  'an empty file': { make: (path) => writeFileSync(path, ''), code: 5, message: /is empty/ },
  "another program's database": {
    make: (path) => runSql(path, 'CREATE TABLE address (name TEXT)'),
    code: 5,
    message: /another program/,
  },
  'a cut file': {
    make: (path) => truncateSync(copyBackupTo(path), 20_480),
    code: 5,
    message: /damaged|malformed/,
  },
  'a newer schema': {
    make: (path) => runSql(copyBackupTo(path), 'PRAGMA user_version = 1000'),
    code: 5,
    message: /version 1000/,
  },
  'a trigger of its own': {
    make: (path) =>
      runSql(
        copyBackupTo(path),
        "CREATE TRIGGER evil AFTER INSERT ON job BEGIN UPDATE job SET command = 'evil'; END",
      ),
    code: 5,
    message: /evil does not belong to queuectl/,
  },
  'the store itself': {
    make: (path) => symlinkSync(join(dirname(path), 'home', 'queue.db'), path),
    code: 2,
    message: /is the database to be replaced/,
  },
};

function runSql(path: string, sql: string): void {
  const db = openDatabase(path);
  db.exec(sql);
  db.close();
}

/** The path of a complete backup, which the test below makes. */
let goodBackup = '';
function copyBackupTo(path: string): string {
  writeFileSync(path, readFileSync(goodBackup));
  return path;
}

// attack-coverage.test.ts explains the number S20.
sandboxTest('S20: restore refuses an unusable file, and the queue stays unchanged', async (box) => {
  for (let i = 0; i < 50; i++) await enqueue(box, `job${i}`, `echo ${'x'.repeat(400)}`, { delay: 3600 });
  goodBackup = pathIn(box, 'good.db');
  await box.json(['backup', goodBackup]);
  const jobsBefore = await box.json(['list']);
  for (const [what, { make, code, message }] of Object.entries(UNUSABLE_FILES)) {
    const path = pathIn(box, what.replaceAll(/\W/g, '-'));
    make(path);
    expectRefusal(await box.run(['restore', '--yes', path]), code, message);
    expect(await box.json(['list'])).toEqual(jobsBefore as object);
  }
  expect(readdirSync(box.home).sort()).toEqual(['queue.db', 'queue.db.d']);
  chmodSync(goodBackup, 0o400);
  expect((await box.run(['restore', '--yes', goodBackup])).code).toBe(0);
  expect(statSync(join(box.home, 'queue.db')).mode & 0o777).toBe(0o600);
});

test('restore refuses a link on the way to the outputs of a backup', async (box) => {
  await enqueue(box, 'loud', 'seq 20000');
  await box.run(['worker', 'start', '--drain', '--quiet']);
  await box.json(['backup', '--with-output', pathIn(box)]);
  const outputs = `${pathIn(box)}.d`;
  const elsewhere = join(box.directory, 'elsewhere');
  for (const directory of [outputs, join(outputs, 'attempts')]) {
    renameSync(directory, elsewhere);
    symlinkSync(elsewhere, directory);
    const restored = join(box.directory, 'new.db');
    const result = await box.run(['restore', pathIn(box), '--db', restored]);
    expectRefusal(result, 6, new RegExp(`${directory} is a symbolic link`));
    expect(existsSync(restored)).toBe(false);
    rmSync(directory);
    renameSync(elsewhere, directory);
  }
  expect((await box.run(['restore', '--yes', pathIn(box)])).code).toBe(0);
});
