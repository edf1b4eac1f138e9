import { expect, test as plainTest } from 'bun:test';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../support/database.ts';
import { enqueue, inSandbox, type Result, type Sandbox } from '../support/queuectl.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

/** If QUEUECTL_SECURITY_TRIES is above 1, every numeric column gets every value. Otherwise one column in six gets one value. */
const EXHAUSTIVE = Number(process.env.QUEUECTL_SECURITY_TRIES ?? 1) > 1;
const LIMIT_MS = EXHAUSTIVE ? 3_600_000 : 90_000;
const TABLES = ['job', 'attempt', 'queue', 'schedule', 'event', 'log'];
const VALUES = [
  ...['-9223372036854775808', '-1', '0', '2147483648', '9007199254740991', '9007199254740994'],
  ...['9223372036854775807', "'text'", 'NULL', '9e999'],
];
/** The SQL condition that selects the row of each table that is changed. */
const ROW_CONDITIONS: Record<string, string> = {
  job: "id = 'bad'",
  attempt: "job = (SELECT number FROM job WHERE id = 'bad')",
  queue: "name = 'theirs'",
  schedule: "name = 'nightly'",
  event: 'number = (SELECT max(number) FROM event)',
  log: 'seq = (SELECT max(seq) FROM log)',
};

/** Fills every table. The job 'bad' is ready for its second attempt, and 'good' for its first. */
async function fill(box: Sandbox): Promise<void> {
  await enqueue(box, 'bad', 'test "$QUEUECTL_ATTEMPT" -gt 1', { max_retries: 3 });
  await enqueue(box, 'done', 'true');
  await box.run(['queue', 'set', 'theirs', '--concurrency', '2', '--rate', '100/s']);
  await box.run(['enqueue', '--id', 'other', '--queue', 'theirs', '--delay', '1h', 'true']);
  await box.run(['schedule', 'add', 'nightly', '--every', '1d', '--', 'true']);
  await box.run(['config', 'set', 'backoff-base', '1000']);
  const workers = await box.startWorkers();
  await box.run(['wait', 'done']);
  for (let state = ''; state !== 'failed'; ) ({ state } = await box.json<{ state: string }>(['show', 'bad']));
  workers.child.kill('SIGTERM');
  await workers.exit;
  // An export folds the log, so that there are events, too.
  await box.run(['export']);
  await box.run(['retry', 'bad']);
  await enqueue(box, 'good', 'true');
}

/** Returns the changes to try. An exhaustive test sets every numeric column to every value. */
function listChanges(template: string): { table: string; column: string; value: string }[] {
  const db = openDatabase(template);
  const found = TABLES.flatMap((table) => {
    const columns = db
      .prepare(`SELECT name FROM pragma_table_info(?) WHERE type IN ('INTEGER', 'REAL')`)
      .all(table);
    return columns.flatMap(({ name }, at) => {
      if (!EXHAUSTIVE && at % 6 !== 0) return [];
      const values = EXHAUSTIVE ? VALUES : [VALUES[(at + TABLES.indexOf(table) + 5) % 7]!];
      return values.map((value) => ({ table, column: String(name), value }));
    });
  });
  db.close();
  return found;
}

/** Sets a column of the selected row. Returns false if the database refuses the value. */
function setValue(
  file: string,
  { table, column, value }: { table: string; column: string; value: string },
): boolean {
  const db = openDatabase(file);
  try {
    db.exec('PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF');
    db.exec(`UPDATE ${table} SET ${column} = ${value} WHERE ${ROW_CONDITIONS[table]}`);
    return true;
  } catch {
    // The type or a constraint of the column refuses the value.
    return false;
  } finally {
    db.close();
  }
}

const READ_COMMANDS = [
  ['list', '--json'],
  ['status', '--json'],
  ['stats', '--json'],
  ['events', '--json'],
  ['queue', 'list', '--json'],
  ['schedule', 'list', '--json'],
  ['metrics'],
  ['export'],
];

/** Returns a description of the problem if a command did not exit with an allowed code or printed an internal error. */
function faultOf(command: string[], { code, stderr }: Result, allowed = [0]): string[] {
  const isClean = !/internal|RangeError|TypeError|at .*\(/.test(stderr);
  return allowed.includes(code) && isClean
    ? []
    : [`${command.join(' ')} exited with ${code}: ${stderr.slice(0, 200)}`];
}

/** Runs all read commands and a worker on a copy of the store, and returns the problems that it finds. */
async function faultsOf(box: Sandbox, home: string): Promise<string[]> {
  const env = { env: { QUEUECTL_HOME: home } };
  const found: string[] = [];
  for (const command of READ_COMMANDS) found.push(...faultOf(command, await box.run(command, env)));
  for (const id of ['bad', 'good'])
    found.push(...faultOf(['show'], await box.run(['show', id, '--json'], env), [0, 3]));
  found.push(...faultOf(['db', 'check'], await box.run(['db', 'check'], env), [0, 1]));
  const added = await box.run(['enqueue', '--id', 'late', 'true'], env);
  found.push(...faultOf(['enqueue'], added, [0, 5]));
  const drain = (): Promise<Result> =>
    box.run(['worker', 'start', '--drain', '--quiet'], { ...env, through: ['timeout', '60'] });
  const first = await drain();
  // A worker whose writes fail tries again until it is stopped.
  found.push(...faultOf(['worker start'], first, [0, 1, 5, 124]));
  // A write that meets the value may fail. Then the queue runs again after a repair.
  if (added.code + first.code !== 0) {
    if (first.code !== 124 && !/db repair/.test(added.stderr + first.stderr))
      found.push(`no advice: ${added.stderr}${first.stderr}`);
    found.push(...faultOf(['db', 'repair'], await box.run(['db', 'repair'], env), [0, 1]));
    if (added.code !== 0)
      found.push(...faultOf(['enqueue'], await box.run(['enqueue', '--id', 'late', 'true'], env)));
    found.push(...faultOf(['worker start'], await drain()));
  }
  for (const id of ['good', 'late']) {
    const { stdout } = await box.run(['show', id, '--json'], env);
    if (!stdout.includes('"completed"'))
      found.push(`${id} did not run: ${/"state":"\w+"/.exec(stdout)?.[0]}`);
  }
  return found;
}

plainTest(
  'a row with an impossible number or time does not stop readers, and at most stops the queue until db repair runs',
  inSandbox(async (box) => {
    await fill(box);
    await box.run(['config', 'set', 'backoff-base', '1']);
    const template = join(box.home, 'queue.db');
    const changes = listChanges(template);
    const faults: string[] = [];
    const tryChanges = async (): Promise<void> => {
      for (let one = changes.shift(); one !== undefined; one = changes.shift()) {
        const home = join(box.directory, `${one.table}-${one.column}-${one.value.replace(/\W/g, '_')}`);
        mkdirSync(home, { mode: 0o700 });
        cpSync(template, join(home, 'queue.db'));
        if (!setValue(join(home, 'queue.db'), one)) continue;
        for (const fault of await faultsOf(box, home))
          faults.push(`${one.table}.${one.column} = ${one.value}: ${fault}`);
      }
    };
    await Promise.all([tryChanges(), tryChanges(), tryChanges(), tryChanges()]);
    expect(faults).toEqual([]);
  }, LIMIT_MS),
  2 * LIMIT_MS,
);

test('db check names a row with values out of range, and db repair keeps the job and holds it', async (box) => {
  await enqueue(box, 'bad', 'true');
  await enqueue(box, 'good', 'true');
  const file = join(box.home, 'queue.db');
  setValue(file, { table: 'job', column: 'priority', value: '9223372036854775807' });
  const found = await box.run(['db', 'check']);
  expect(found).toMatchObject({ code: 1, stdout: expect.stringContaining('(job bad: priority') });
  expect((await box.run(['list', '-q'])).stdout.trim().split('\n').sort()).toEqual(['bad', 'good']);
  const repaired = await box.run(['db', 'repair']);
  expect(repaired.stdout + repaired.stderr).toContain("job 'bad': priority out of range");
  expect((await box.run(['db', 'check'])).stdout).toBe('ok\n');
  expect((await box.run(['worker', 'start', '--drain', '--quiet'])).code).toBe(0);
  expect(await box.json(['show', 'good'])).toMatchObject({ state: 'completed' });
  expect(await box.json(['show', 'bad'])).toMatchObject({ state: 'pending', priority: 1_000_000 });
  expect((await box.run(['release', 'bad'])).code).toBe(0);
  expect((await box.run(['worker', 'start', '--drain', '--quiet'])).code).toBe(0);
  expect(await box.json(['show', 'bad'])).toMatchObject({ state: 'completed' });
});

test('a job with an unreadable row can be shown, gets an error instead of running, and does not stop other jobs', async (box) => {
  await enqueue(box, 'bad', 'true');
  await enqueue(box, 'good', 'true');
  setValue(join(box.home, 'queue.db'), { table: 'job', column: 'argv', value: "'{'" });
  expect((await box.run(['list', '--json'])).code).toBe(0);
  expect((await box.run(['worker', 'start', '--drain', '--quiet'])).code).toBe(0);
  expect(await box.json(['show', 'good'])).toMatchObject({ state: 'completed' });
  expect(await box.json(['show', 'bad'])).toMatchObject({
    state: 'pending',
    last_error: "cannot be started: the argv of job 'bad' is not valid JSON for this column",
  });
});

test('JSON with contents of a wrong type stops neither a worker nor other jobs and schedules', async (box) => {
  const path = join(box.home, 'queue.db');
  const change = (sql: string): void => {
    const db = openDatabase(path);
    db.exec(sql);
    db.close();
  };
  const columns = {
    start: '{"secretEnv":5}',
    hooks: '{"complete":5}',
    env: '{"A":5}',
    policy: '{"jitter":2}',
    argv: '[]',
  };
  for (const [column, value] of Object.entries(columns)) {
    await enqueue(box, column, 'true');
    change(`UPDATE job SET ${column} = '${value}' WHERE id = '${column}'`);
  }
  await enqueue(box, 'good', 'true');
  // The row of this job is damaged while it runs.
  await enqueue(box, 'running', `while [ ! -e ${join(box.directory, 'go')} ]; do sleep 0.1; done`, {
    priority: 9,
  });
  for (const [name, job] of [
    ['empty', '{}'],
    ['number', '{"command":5}'],
  ]) {
    await box.run(['schedule', 'add', name!, '--every', '1s', '--', 'true']);
    change(`UPDATE schedule SET job = '${job}' WHERE name = '${name}'`);
  }
  await box.run(['schedule', 'add', 'quick', '--every', '1s', '--overlap', 'allow', '--', 'true']);
  change(`UPDATE schedule SET every_ms = 1 WHERE name = 'quick'`);
  for (const [name, column] of [
    ['badzone', 'zone'],
    ['badcron', 'cron'],
  ]) {
    await box.run(['schedule', 'add', name!, '--cron', '* * * * *', '--timezone', 'UTC', '--', 'true']);
    change(`UPDATE schedule SET ${column} = '../x', next_at = 1700000000000 WHERE name = '${name}'`);
  }
  const worker = box.run(['worker', 'start', '--drain', '--quiet']);
  for (let state = ''; state !== 'processing'; )
    ({ state } = await box.json<{ state: string }>(['show', 'running']));
  change(`UPDATE job SET hooks = '{"complete":5}', start = '{"secretEnv":5}' WHERE id = 'running'`);
  writeFileSync(join(box.directory, 'go'), '');
  expect((await worker).code).toBe(0);
  for (const id of ['good', 'running'])
    expect(await box.json(['show', id])).toMatchObject({ state: 'completed' });
  for (const column of Object.keys(columns)) {
    expect(await box.json(['show', column])).toMatchObject({
      state: 'pending',
      last_error: `cannot be started: the ${column} of job '${column}' is not valid JSON for this column`,
    });
    expect((await box.run(['cancel', column])).code).toBe(0);
  }
  expect((await box.json<unknown[]>(['schedule', 'list'])).length).toBe(5);
  expect((await box.json<unknown[]>(['list', '--name', 'quick'])).length).toBeLessThan(4);
  const check = await box.run(['db', 'check']);
  expect(check.code).toBe(1);
  expect(check.stdout).toMatch(/JSON fields of jobs contain valid JSON \(.*start.*\)/);
  expect(check.stdout).toContain('schedule quick: every_ms');
});
