import { expect } from 'bun:test';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { startGatedJob } from '../support/gated-job.ts';
import { killAll, workersOf } from '../support/processes.ts';
import { EXECUTABLE, type Sandbox, until } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

interface Finding {
  check: string;
  status: string;
  says: string;
  fix: string | null;
}

async function runDoctor(box: Sandbox): Promise<{ code: number; find(check: string): Finding }> {
  const { code, stdout } = await box.run(['doctor', '--json']);
  const { checks, ok } = JSON.parse(stdout) as { checks: Finding[]; ok: boolean };
  expect(ok).toBe(code === 0);
  for (const finding of checks) if (finding.status !== 'ok') expect(finding.fix).toBeTruthy();
  return { code, find: (check) => checks.find((finding) => finding.check === check)! };
}

test('doctor reports a missing store and creates none', async (box) => {
  const { code, find } = await runDoctor(box);
  expect(code).toBe(0);
  expect(find('store').says).toContain('none yet');
  expect(find('sqlite').status).toBe('ok');
  expect(existsSync(box.home)).toBe(false);
});

test('doctor reports a missing store that cannot be created', async (box) => {
  const directory = mkdtempSync(join(tmpdir(), 'read-only-'));
  chmodSync(directory, 0o555);
  const db = join(directory, 'new', 'queue.db');
  // Root may write everywhere.
  const through =
    process.getuid!() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : [];
  const { code, stdout } = await box.run(['doctor', '--json'], { env: { QUEUECTL_DB: db }, through });
  rmSync(directory, { recursive: true });
  const store = (JSON.parse(stdout).checks as Finding[]).find(({ check }) => check === 'store')!;
  expect([code, store.status]).toEqual([1, 'fail']);
  expect(store.says).toContain(`the directory ${directory} is not writable`);
});

test('on a healthy store doctor finds no damage, warns about missing workers and creates no files', async (box) => {
  await box.run(['enqueue', 'true']);
  const filesBefore = readdirSync(box.home, { recursive: true });
  const { code, find } = await runDoctor(box);
  expect(code).toBe(0);
  for (const check of ['journal mode', 'synchronous', 'quick check', 'schema', 'permissions', 'stuck jobs'])
    expect(find(check)).toMatchObject({ check, status: 'ok' });
  expect(find('workers')).toMatchObject({ status: 'warn', fix: 'queuectl worker start' });
  expect(readdirSync(box.home, { recursive: true })).toEqual(filesBefore);
  expect((await box.run(['doctor'])).stdout).toContain('quick check\tok\tno problems found');
});

test('doctor reports a schema from before the first release and leaves it unchanged', async (box) => {
  await box.run(['enqueue', 'true']);
  const openStore = () => openDatabase(join(box.home, 'queue.db'));
  const store = openStore();
  store.exec('PRAGMA user_version = 3');
  store.close();
  const { code, find } = await runDoctor(box);
  expect(code).toBe(1);
  expect(find('database')).toMatchObject({ status: 'fail', says: expect.stringContaining('version 3') });
  const db = openStore();
  expect(db.prepare('PRAGMA user_version').get()).toMatchObject({ user_version: 3 });
  db.close();
});

test('doctor reports a killed worker, its job, and workers of another executable', async (box) => {
  const otherExecutable = join(box.directory, 'queuectl');
  copyFileSync(EXECUTABLE, otherExecutable);
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  expect((await runDoctor(box)).find('workers')).toMatchObject({ status: 'ok', says: '1 running' });
  const { stdout } = await box.run([], { through: ['sh', '-c', `exec ${otherExecutable} doctor --json`] });
  expect(stdout).toContain('a different queuectl executable');
  await killAll([workers.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
  const { find } = await runDoctor(box);
  expect(find('stale workers').status).toBe('warn');
  expect(find('stuck jobs')).toMatchObject({ status: 'warn', says: expect.stringContaining('job') });
  const next = await box.startWorkers();
  await until(() => next.output().includes('adopted'), 'the job is adopted');
  expect((await runDoctor(box)).find('stuck jobs').status).toBe('ok');
  job.release();
});

test('doctor fails on a database that others can write and on a file that is not a database', async (box) => {
  await box.run(['enqueue', 'true']);
  const db = join(box.home, 'queue.db');
  chmodSync(db, 0o666);
  const writable = await runDoctor(box);
  expect(writable.code).toBe(1);
  expect(writable.find('permissions')).toMatchObject({ status: 'fail', fix: `chmod go-w ${db}` });
  chmodSync(db, 0o600);
  rmSync(`${db}.d`, { recursive: true });
  writeFileSync(db, 'no database'.repeat(1000));
  const damaged = await runDoctor(box);
  expect(damaged.code).toBe(1);
  expect(damaged.find('database').status).toBe('fail');
});

test('doctor --quick skips the check that reads the whole database', async (box) => {
  await box.json(['enqueue', 'true']);
  const checkNames = async (...flags: string[]): Promise<string[]> =>
    (await box.json<{ checks: { check: string }[] }>(['doctor', ...flags])).checks.map(({ check }) => check);
  expect(await checkNames()).toContain('quick check');
  expect(await checkNames('--quick')).not.toContain('quick check');
  expect(await checkNames('--quick')).toContain('disk');
});
