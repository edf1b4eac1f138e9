import { expect } from 'bun:test';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { startGatedJob } from '../support/gated-job.ts';
import { killAll, workersOf } from '../support/processes.ts';
import { enqueue, type Sandbox, untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest, concurrentTest as test } from '../support/sandbox-test.ts';

const dbPath = (box: Sandbox): string => join(box.home, 'queue.db');

function tamper(box: Sandbox, sql: string): void {
  const db = openDatabase(dbPath(box), { enableForeignKeyConstraints: false });
  db.exec(sql);
  db.close();
}

test('db check passes on a healthy store, also while workers run, and never creates a store', async (box) => {
  for (const verb of ['check', 'repair'])
    expectRefusal(await box.run(['db', verb]), 5, /does not exist|no such file/);
  expect(existsSync(box.home)).toBe(false);
  await box.startWorkers();
  await enqueue(box, 'job', 'echo hello');
  await untilState(box, 'job', 'completed');
  expect(await box.run(['db', 'check'])).toMatchObject({ code: 0, stdout: 'ok\n', stderr: '' });
  expect(await box.json(['db', 'check'])).toMatchObject({ ok: true, problems: [] });
  expectRefusal(await box.run(['db', 'repair']), 5, /in use by process/);
});

/** Counts a job that does not exist. */
const WRONG_COUNT = "INSERT INTO log (at, new_queue, new_state) VALUES (1, 1, 'pending')";

/** Damage that SQLite itself does not notice. */
const DAMAGE: [what: string, sql: string, message: RegExp][] = [
  ['a wrong counter', "INSERT INTO counter (queue, state, jobs) VALUES (1, 'pending', 1)", /counters/],
  ['missing changes', 'DELETE FROM log', /counters/],
  ['a reference to a missing row', 'DELETE FROM queue', /refers to a missing queue/],
  [
    'a running job without an attempt',
    "UPDATE job SET state = 'processing', phase = 'running', worker_id = 'w', due_at = NULL WHERE id = 'one'",
    /running job/,
  ],
  [
    'an invalid histogram',
    "INSERT INTO rollup (tier, at, kind, run, run_least, run_most) VALUES (3, 0, 1, x'0500', 1, 1)",
    /valid histograms \(3 0 1\)/,
  ],
  ['invalid JSON', "UPDATE job SET tags = '{' WHERE id = 'one'", /JSON/],
  ['a missing trigger', 'DROP TRIGGER job_became_ready', /job_became_ready is missing/],
  [
    'a foreign trigger',
    'CREATE TRIGGER evil AFTER INSERT ON job BEGIN SELECT 1; END',
    /evil does not belong to queuectl/,
  ],
];

for (const [what, sql, message] of DAMAGE) {
  test(`db check finds ${what}, and db repair fixes it`, async (box) => {
    await enqueue(box, 'one', 'true');
    await enqueue(box, 'two', 'true');
    tamper(box, sql);
    const check = await box.run(['db', 'check']);
    expect(check.code).toBe(1);
    expect(check.stdout).toMatch(message);
    await box.run(['db', 'repair']);
    expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
    expect((await box.json<unknown[]>(['list'])).length).toBeGreaterThan(0);
    expect((await box.run(['worker', 'start', '--drain'])).code).toBe(0);
    expect(JSON.stringify(await box.json(['status']))).not.toContain('"pending":1');
  });
}

test('db repair refuses a healthy store and leaves it unchanged', async (box) => {
  await enqueue(box, 'job', 'true');
  await box.run(['worker', 'start', '--drain', '--quiet']);
  const contentBefore = readFileSync(dbPath(box));
  const namesBefore = readdirSync(box.home);
  expectRefusal(
    await box.run(['db', 'repair']),
    4,
    /db check found no damage in .*\. The file was not changed/,
  );
  expect(readFileSync(dbPath(box)).equals(contentBefore)).toBe(true);
  expect(readdirSync(box.home)).toEqual(namesBefore);
});

test('statistics survive a repair, except those of a queue that does not exist', async (box) => {
  for (let i = 0; i < 5; i++) await enqueue(box, `job${i}`, 'true', { name: 'n' });
  await box.run(['worker', 'start', '--drain', '--quiet']);
  const readFigures = async (): Promise<unknown> => [
    (await box.run(['metrics'])).stdout.match(/^queuectl_(jobs|attempts)_total.*$/gm),
    (await box.json<{ total: object }>(['stats', '--range', '24h'])).total,
  ];
  const figuresBefore = await readFigures();
  expect(JSON.stringify(figuresBefore)).toContain('"completed":5');
  tamper(box, `${WRONG_COUNT}; INSERT INTO rollup (tier, at, kind) VALUES (0, 0, 99)`);
  const { code, stdout } = await box.run(['db', 'repair']);
  expect({ code, stdout }).toMatchObject({
    ...{ code: 1, stdout: expect.stringContaining('lost\t1 statistics whose queue') },
  });
  expect(await readFigures()).toEqual(figuresBefore);
});

test('commands report a truncated database and suggest db repair, and enqueue replaces a deleted one', async (box) => {
  for (let i = 0; i < 30; i++) await enqueue(box, `job${i}`, `echo ${'x'.repeat(1000)}`, { delay: 60 });
  const db = dbPath(box);
  for (const size of [20_480, 100, 0]) {
    truncateSync(db, size);
    for (const command of [
      ['list'],
      ['status'],
      ['enqueue', 'true'],
      ['config', 'list'],
      ['worker', 'start'],
    ]) {
      const result = await box.run(command);
      expectRefusal(result, 5, /is damaged/);
      expect(result.stderr).toContain('queuectl db repair');
    }
  }
  expect(readdirSync(box.home).filter((name) => !name.startsWith('queue.db'))).toEqual([]);
  rmSync(db);
  const { code, stderr } = await box.run(['enqueue', 'true']);
  expect(code).toBe(0);
  expect(stderr).toContain('new, empty queue');
});

test('a job that runs during a repair is adopted afterwards and not run twice', async (box) => {
  const workers = await box.startWorkers();
  const job = await startGatedJob(box, 'job');
  await killAll([workers.pid, ...(await workersOf(box)).map((worker) => worker.pid)]);
  tamper(box, WRONG_COUNT);
  expect((await box.run(['db', 'repair'])).stdout).toContain('saved\tjob\t1');
  await box.startWorkers();
  job.release();
  expect(await untilState(box, 'job', 'completed')).toMatchObject({ attempts: 1, crashes: 0 });
  expect(job.traces()).toHaveLength(2);
});

sandboxTest(
  'db check and doctor find no damage in a healthy store to which others add jobs meanwhile',
  async (box) => {
    const add = (jobs: number) =>
      box.run(['enqueue', '--quiet', '--file', '-'], { stdin: 'echo one\n'.repeat(jobs) });
    await add(10_000);
    let isOver = false;
    const adding = (async () => {
      while (!isOver) expect((await add(300)).code).toBe(0);
    })();
    try {
      for (let i = 0; i < 8; i++) {
        expect(await box.run(['db', 'check'])).toEqual({ code: 0, stdout: 'ok\n', stderr: '' });
        const { checks } = JSON.parse((await box.run(['doctor', '--json'])).stdout);
        expect(checks.filter(({ status }: { status: string }) => status === 'fail')).toEqual([]);
      }
    } finally {
      isOver = true;
      await adding;
    }
    expect(readdirSync(box.home).sort()).toEqual(['queue.db', 'queue.db.d']);
  },
);
