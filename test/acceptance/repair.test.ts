import { expect } from 'bun:test';
import { closeSync, mkdirSync, openSync, readFileSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { enqueue, type Sandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

const PAGE_SIZE = 4096;
const HEADER_SIZE = 100;
const JOBS = 400;

const dbPath = (box: Sandbox): string => join(box.home, 'queue.db');

async function addJobs(box: Sandbox): Promise<void> {
  const jobs = Array.from({ length: JOBS }, (_, i) => `{"id":"job${i}","command":"echo ${'x'.repeat(200)}"}`);
  await box.run(['enqueue', '--file', '-'], { stdin: jobs.join('\n') });
}

/** Returns the numbers of the pages of a table: its root, and then the pages that hold its rows. */
function pagesOf(path: string, table: string): { root: number; leaves: number[] } {
  const db = openDatabase(path);
  const { rootpage } = db.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table)!;
  db.close();
  const root = rootpage as number;
  const at = (root - 1) * PAGE_SIZE;
  const bytes = readFileSync(path);
  // The root is an interior page: after its header come the offsets of its cells, which begin with the number of a page.
  expect(bytes[at]).toBe(5);
  const cells = Array.from({ length: bytes.readUInt16BE(at + 3) }, (_, i) =>
    bytes.readUInt16BE(at + 12 + 2 * i),
  );
  return { root, leaves: cells.map((cell) => bytes.readUInt32BE(at + cell)) };
}

function destroyPage(path: string, page: number): void {
  const file = openSync(path, 'r+');
  writeSync(file, Buffer.alloc(PAGE_SIZE, 0xa5), 0, PAGE_SIZE, (page - 1) * PAGE_SIZE);
  closeSync(file);
}

test('db repair skips the jobs on a page that cannot be read, names them, and saves the jobs before and after it', async (box) => {
  await addJobs(box);
  const { leaves } = pagesOf(dbPath(box), 'job');
  expect(leaves.length).toBeGreaterThan(10);
  destroyPage(dbPath(box), leaves[5]!);
  const { code, stdout, stderr } = await box.run(['db', 'repair', '--json']);
  expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
  const report = JSON.parse(stdout) as { jobs: number; lost: string[] };
  const listed = (await box.json<{ id: string }[]>(['list', '--limit', '1000'])).map(({ id }) => id);
  expect(listed).toHaveLength(report.jobs);
  expect(listed).toContain('job0');
  expect(listed).toContain(`job${JOBS - 1}`);
  const missing = Array.from({ length: JOBS }, (_, i) => `job${i}`).filter((id) => !listed.includes(id));
  expect(missing.length).toBeWithin(1, 60);
  expect(report.lost).toEqual(expect.arrayContaining(missing.map((id) => `job '${id}'`)));
  expect(report.lost.join()).toMatch(/job after number \d+ up to \d+: /);
  expect(statSync(dbPath(box)).mode & 0o777).toBe(0o600);
  expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
  await box.run(['worker', 'start', '--drain', '--quiet', '--slots', '8']);
  expect(await box.json<{ completed: number }>(['status'])).toMatchObject({
    jobs: { completed: report.jobs },
  });
});

for (const [what, pageOf] of [
  ['the root page of the jobs', (path: string) => pagesOf(path, 'job').root],
  ['the first page', () => 1],
] as const)
  test(`db repair changes nothing after the loss of ${what}, and names a backup and sqlite3 .recover`, async (box) => {
    await addJobs(box);
    destroyPage(dbPath(box), pageOf(dbPath(box)));
    const before = readFileSync(dbPath(box));
    const result = await box.run(['db', 'repair']);
    expectRefusal(result, 5, /no job could be recovered from .*\. The file was not changed/);
    expect(result.stderr).toMatch(/queuectl restore FILE.*sqlite3 \S+ \.recover/);
    // The header has the journal mode, which a lock changes.
    const contents = (bytes: Buffer): Buffer => bytes.subarray(HEADER_SIZE);
    expect(contents(readFileSync(dbPath(box))).equals(contents(before))).toBe(true);
  });

test('db repair reports a job with JSON of the wrong type and does not save it', async (box) => {
  for (const id of ['a', 'b', 'c', 'sound']) await enqueue(box, id, 'true');
  const db = openDatabase(dbPath(box));
  // These values are valid JSON of the wrong type, as a flipped bit could produce.
  db.exec("UPDATE job SET depends_on = '0' WHERE id = 'a'; UPDATE job SET tags = '[]' WHERE id = 'b'");
  db.exec("UPDATE job SET argv = '{}' WHERE id = 'c'");
  db.close();
  const { lost } = JSON.parse((await box.run(['db', 'repair', '--json'])).stdout) as { lost: string[] };
  expect(lost.slice(0, 3)).toEqual([
    "job 'a': its depends_on is unreadable",
    "job 'b': its tags is unreadable",
    "job 'c': its argv is unreadable",
  ]);
  expect((await box.run(['list', '-q'])).stdout).toBe('sound\n');
});

test('db repair settles a lost attempt with the crash-limit of the store', async (box) => {
  await enqueue(box, 'job', 'true');
  await box.run(['config', 'set', 'crash-limit', '1']);
  const db = openDatabase(dbPath(box));
  db.exec("UPDATE job SET state = 'processing', phase = 'running', worker_id = 'w', due_at = NULL");
  db.close();
  mkdirSync(join(box.stateDirectory(), 'attempts'), { recursive: true });
  await box.run(['db', 'repair']);
  expect(await box.json(['show', 'job'])).toMatchObject({ state: 'dead', crashes: 1 });
});
