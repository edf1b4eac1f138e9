import { expect } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { enqueue, type Sandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

type Line = Record<string, Record<string, unknown>>;

/** Values that are out of range, or so high that no later number would fit. */
const BAD_VALUES: [table: string, column: string, value: number][] = [
  ['job', 'priority', 9007199254740994],
  ['job', 'number', 2 ** 53 - 1],
  ['job', 'number', -1],
  ['job', 'created_at', 8_640_000_000_000_001],
  ['job', 'due_at', -1],
  ['job', 'max_retries', 2 ** 40],
  ['attempt', 'number', 2 ** 53 - 1],
  ['attempt', 'started_at', 9e15],
  ['attempt', 'output_bytes', -5],
  ['queue', 'paused_at', 1e16],
  ['queue', 'number', 2 ** 53 - 1],
  ['schedule', 'next_at', 9007199254740994],
  ['schedule', 'every_ms', 1],
  ['schedule', 'every_ms', 999],
  ['event', 'at', 9007199254740994],
  ['event', 'number', 2 ** 53 - 1],
];

/** JSON of the right kind, with contents of a wrong type or out of range. */
const BAD_JSON: [table: string, column: string, value: unknown][] = [
  ['job', 'argv', ['a', 5]],
  ['job', 'argv', []],
  ['job', 'env', { A: 5 }],
  ['job', 'tags', { a: {} }],
  ['job', 'start', { secretEnv: 5 }],
  ['job', 'start', { secretEnv: [5] }],
  ['job', 'start', { stdinBytes: 'x' }],
  ['job', 'hooks', { complete: 5 }],
  ['job', 'hooks', { idle: {} }],
  ['job', 'policy', { retryOn: 'x' }],
  ['job', 'policy', { backoff: 'evil' }],
  ['job', 'policy', { jitter: 2 }],
  ['job', 'policy', { retryDelayMs: -1 }],
  ['job', 'depends_on', [5]],
  ['job', 'depends_on', [{ on: 'ok' }]],
  ['schedule', 'job', {}],
  ['schedule', 'job', { command: 5 }],
  ['schedule', 'job', { command: 'true', env: { A: 5 } }],
  ['schedule', 'job', { command: 'true', policy: { jitter: 2 } }],
  ['schedule', 'job', { command: 'true', unique: { key: 'a', forMs: 1e300 } }],
  ['schedule', 'job', { command: 'true', priority: 1e12 }],
  ['schedule', 'job', { command: 'true', unique: {} }],
  ['schedule', 'job', { command: 'true', id: 'job' }],
  ['schedule', 'job', { command: 'true', dependsOn: [{ id: 'none', on: 'ok' }] }],
  ['attempt', 'left_behind', ['x']],
  ['idempotency', 'ids', [5]],
  ['event', 'detail', []],
];

/** Returns the lines of an export that has a row of every table with JSON. */
async function exportedLines(box: Sandbox): Promise<string[]> {
  await enqueue(box, 'job', 'true');
  await box.run(['enqueue', '--idempotency-key', 'once', 'true']);
  await box.run(['schedule', 'add', 'nightly', '--every', '1d', '--', 'true']);
  await box.run(['worker', 'start', '--drain', '--quiet']);
  const file = join(box.directory, 'lines');
  await box.run(['export', file]);
  return readFileSync(file, 'utf8').trimEnd().split('\n');
}

test('import refuses JSON with contents of a wrong type, and names their line, column and row', async (box) => {
  const lines = await exportedLines(box);
  await Promise.all(
    BAD_JSON.map(async ([table, column, value], i) => {
      const index = lines.findIndex((line) => table in JSON.parse(line));
      const changed = JSON.parse(lines[index]!) as Line;
      changed[table]![column] = JSON.stringify(value);
      const hostile = join(box.directory, `hostile-${i}`);
      writeFileSync(hostile, `${lines.with(index, JSON.stringify(changed)).join('\n')}\n`);
      const result = await box.run(['--db', join(box.directory, `new-${i}.db`), 'import', hostile]);
      const name = { job: " \\(job 'job'\\)", schedule: " \\(schedule 'nightly'\\)" }[table] ?? '';
      const message = `line ${index + 1}: its ${column} is not valid JSON for this column${name}`;
      expectRefusal(result, 2, new RegExp(message));
    }),
  );
});

test('import refuses an event whose kind would forge lines of an event stream', async (box) => {
  const lines = await exportedLines(box);
  const index = lines.findIndex((line) => 'event' in JSON.parse(line));
  const changed = JSON.parse(lines[index]!) as Line;
  changed.event!.kind = 'started\n\ndata: forged';
  const file = join(box.directory, 'hostile');
  writeFileSync(file, `${lines.with(index, JSON.stringify(changed)).join('\n')}\n`);
  const result = await box.run(['--db', join(box.directory, 'new.db'), 'import', file]);
  expectRefusal(result, 2, new RegExp(`line ${index + 1}: its kind is not the kind of an event`));
});

test('import refuses a schedule with an invalid cron expression or an unknown time zone', async (box) => {
  await box.run(['schedule', 'add', 'nightly', '--cron', '0 2 * * *', '--timezone', 'UTC', '--', 'true']);
  const file = join(box.directory, 'lines');
  await box.run(['export', file]);
  const text = readFileSync(file, 'utf8');
  for (const [from, to, message] of [
    ['"0 2 * * *"', '"evil"', /line \d+: the cron expression 'evil'/],
    ['"0 2 * * *"', '"99 2 * * *"', /line \d+: the cron expression '99 2/],
    [
      '"UTC"',
      '"../../etc/passwd"',
      /line \d+: unknown time zone '..\/..\/etc\/passwd' of schedule 'nightly'/,
    ],
  ] as const) {
    expect(text).toContain(from);
    writeFileSync(file, text.replace(from, to));
    expectRefusal(await box.run(['--db', join(box.directory, 'new.db'), 'import', file]), 2, message);
  }
});

test('import accepts a job and a schedule that set every field', async (box) => {
  const environment =
    '--env A=b --secret-env HOME --tag team=web --clean-env --split-output --stdin x --priority high';
  const retries = '--backoff linear --backoff-max 10m --retry-delay 5s --jitter 0.5 --timeout none';
  const codes = '--retry-on 1,75 --no-retry-on 60-70 --on-complete true --on-failure none --on-dead true';
  const fields = `${environment} ${retries} ${codes} --unique k --unique-for 2h`.split(' ');
  const parents = ['--after', 'any:parent', '--on-parent-failure', 'run'];
  expect((await box.run(['enqueue', '--id', 'parent', '--at-most-once', 'true'])).code).toBe(0);
  expect((await box.run(['enqueue', '--id', 'full', ...parents, ...fields, '--', 'echo', 'a b'])).code).toBe(
    0,
  );
  const timing = ['--every', '1s', '--overlap', 'queue'];
  expect((await box.run(['schedule', 'add', 'full', ...timing, ...fields, '--', 'echo', 'a b'])).code).toBe(
    0,
  );
  const file = join(box.directory, 'lines');
  await box.run(['export', file]);
  expect(await box.run(['--db', join(box.directory, 'new.db'), 'import', file])).toMatchObject({ code: 0 });
  expect(await box.run(['--db', join(box.directory, 'new.db'), 'db', 'check'])).toMatchObject({
    stdout: 'ok\n',
  });
});

const INSERT_HIDDEN = `INSERT INTO job (id, queue, state, phase, priority, max_retries, created_at, updated_at, due_at, cwd, command)
  SELECT 'hidden', 77, 'pending', 'ready', 0, 3, created_at, updated_at, created_at, cwd, 'true' FROM job`;

test('restore refuses a backup with problems that db check reports, and keeps the queue', async (box) => {
  await enqueue(box, 'job', 'true');
  for (const [i, change] of [
    INSERT_HIDDEN,
    `UPDATE job SET hooks = '{"complete":5}'`,
    `UPDATE job SET start = '{"secretEnv":5}'`,
    'UPDATE job SET blockers = 1',
  ].entries()) {
    const file = join(box.directory, `backup-${i}.db`);
    expect((await box.run(['backup', file])).code).toBe(0);
    const db = openDatabase(file);
    db.exec(`PRAGMA foreign_keys = OFF; ${change}`);
    db.close();
    expect((await box.run(['--db', file, 'db', 'check'])).code).toBe(1);
    const result = await box.run(['restore', '--yes', file]);
    expectRefusal(result, 5, /backup-\d\.db is damaged: /);
    expect(result.stderr).toContain(`queuectl --db ${file} db repair`);
  }
  expect((await box.run(['list', '-q'])).stdout).toBe('job\n');
});

test('import refuses details of events with an invalid time', async (box) => {
  await enqueue(box, 'job', 'exit 1');
  await box.run(['worker', 'start', '--drain', '--quiet']);
  const file = join(box.directory, 'lines');
  await box.run(['export', file]);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const index = lines.findIndex((line) => 'event' in JSON.parse(line));
  for (const detail of [{ next_run_at: 'soon' }, { at: '2026-13-45T00:00:00.000Z' }, { scheduled_at: {} }]) {
    const { event } = JSON.parse(lines[index]!) as Line;
    const hostile = join(box.directory, 'hostile');
    const line = JSON.stringify({ event: { ...event, detail: JSON.stringify(detail) } });
    writeFileSync(hostile, `${lines.with(index, line).join('\n')}\n`);
    const result = await box.run(['--db', join(box.directory, 'new.db'), 'import', hostile]);
    expectRefusal(
      result,
      2,
      new RegExp(`line ${index + 1}: its detail has an invalid time: ${Object.keys(detail)[0]}`),
    );
  }
});

test('import refuses numbers and times out of range, names their line and column, and adds nothing', async (box) => {
  await enqueue(box, 'job', 'true');
  await box.run(['schedule', 'add', 'nightly', '--every', '1d', '--', 'true']);
  await box.run(['worker', 'start', '--drain', '--quiet']);
  const file = join(box.directory, 'lines');
  await box.run(['export', file]);
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  const newStore = ['--db', join(box.directory, 'new.db')];
  await Promise.all(
    BAD_VALUES.map(async ([table, column, value], i) => {
      const index = lines.findIndex((line) => table in JSON.parse(line));
      const changed = JSON.parse(lines[index]!) as Line;
      changed[table]![column] = value;
      const hostile = join(box.directory, `hostile-${i}`);
      writeFileSync(hostile, `${lines.with(index, JSON.stringify(changed)).join('\n')}\n`);
      const result = await box.run([...newStore, 'import', hostile]);
      expectRefusal(result, 2, new RegExp(`line ${index + 1}: its ${column} is out of range`));
    }),
  );
  expect((await box.run([...newStore, 'import', file])).code).toBe(0);
  expect((await box.run([...newStore, 'enqueue', '--id', 'next', 'true'])).code).toBe(0);
  expect((await box.run([...newStore, 'worker', 'start', '--drain', '--quiet'])).code).toBe(0);
  expect((await box.run([...newStore, 'list', '--state', 'completed', '-q'])).stdout).toContain('next');
});
