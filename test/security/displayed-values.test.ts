/** Tests displayed values: passwords are masked, cells of CSV and TSV are not formulas, and names have no invisible characters. */

import { expect } from 'bun:test';
import { MASK } from '../../src/core/jobs/command-text.ts';
import { serve } from '../support/http.ts';
import { sandboxTest as test } from '../support/sandbox-test.ts';

const SECRET = 'hunter2-7f3a91';
const URL = `postgres://me:${SECRET}@db.example.org/x`;
const MASKED = `postgres://me:${MASK}@db.example.org/x`;

test('the password of a URL is masked in tables and in the API, but --json prints it in commands and variables', async (box) => {
  const env = ['--env', `DATABASE_URL=${URL}`, '--env', `OPTIONS=-p ${URL}`];
  const hook = ['--on-dead', `true ${URL}`];
  await box.run(['enqueue', '--id', 'x', '--max-retries', '1', ...env, ...hook, `echo ${URL}; exit 3`]);
  await box.run(['schedule', 'add', 'daily', '--every', '1d', `psql ${URL}`]);
  await box.run(['config', 'set', 'on-failure', `true ${URL}`]);
  await box.run(['worker', 'start', '--drain', '--quiet']);
  const site = await serve(box);
  const views = [
    ...[['list'], ['list', '--format', 'table'], ['list', '--format', '{command} {env}'], ['show', 'x']],
    ...[
      ['dlq', 'list'],
      ['schedule', 'list'],
      ['schedule', 'show', 'daily'],
      ['config', 'list'],
    ],
    ...[
      ['top', '--once'],
      ['events', '--format', 'table'],
      ['explain', 'x'],
      ['__complete', 'show', ''],
    ],
  ];
  for (const args of views) {
    const { stdout, stderr } = await box.run(args);
    expect({ args, leaks: `${stdout}${stderr}`.includes(SECRET) }).toEqual({ args, leaks: false });
  }
  for (const path of ['jobs', 'jobs/x', 'schedules', 'schedules/daily', 'config', 'activity', 'dlq/errors']) {
    const { text } = await site.call('GET', `/api/v1/${path}`);
    expect({ path, leaks: text.includes(SECRET) }).toEqual({ path, leaks: false });
  }
  expect((await box.run(['show', 'x'])).stdout).toContain(`echo ${MASKED}; exit 3`);
  expect((await site.call('GET', '/api/v1/jobs/x')).json.env).toEqual({
    DATABASE_URL: MASK,
    OPTIONS: `-p ${MASKED}`,
  });
  expect(await box.json(['show', 'x'])).toMatchObject({
    command: `echo ${URL}; exit 3`,
    env: { DATABASE_URL: URL },
    last_error: `exit code 3: ${MASKED}`,
  });

  // Input that contains a masked value is refused, because it was copied from a display.
  const copied = await box.run(['enqueue', `psql ${MASKED}`]);
  expect([copied.code, copied.stderr]).toEqual([2, expect.stringContaining(`command contains ${MASK}`)]);
  const body = { command: `psql ${MASKED}` };
  expect((await site.call('PATCH', '/api/v1/jobs/x', { body })).status).toBe(400);
  expect((await box.run(['enqueue', '--', 'psql', MASKED])).code).toBe(2);
  expect((await box.run(['enqueue', '--env', `A=${MASKED}`, 'true'])).code).toBe(2);
});

test('CSV and TSV cells that begin like a formula are text, numbers stay numbers, and lines for scripts stay as they are', async (box) => {
  const later = ['--run-at', '+1d'];
  for (const command of ['=1+1', '+cmd', '@sum', '-2-3', '=HYPERLINK("a","b")', '-5', '+1.5', 'a=b', '＝1'])
    await box.run(['enqueue', ...later, '--priority', '-5', `--command=${command}`]);
  await box.run(['enqueue', ...later, '--id', '=cmd', '\t=1']);
  const { stdout } = await box.run(['list', '--format', 'csv', '--header']);
  const rows = stdout.trimEnd().split('\n').slice(1).reverse();
  const commandOf = (row: string): string =>
    row.slice(row.indexOf('Z,', row.indexOf('Z,') + 1) + 2).replace(/,scheduled$/, '');
  expect(rows.map(commandOf)).toEqual([
    ...[`'=1+1`, `'+cmd`, `'@sum`, `'-2-3`, `"'=HYPERLINK(""a"",""b"")"`, '-5', '+1.5', 'a=b', `'＝1`],
    '\\t=1',
  ]);
  expect(rows[0]).toContain(',-5,');
  expect(rows.at(-1)).toStartWith("'=cmd,");
  await box.run(['enqueue', ...later, '--command="=1+1"']);
  const tsv = (await box.run(['list', '--format', 'tsv'])).stdout;
  for (const cell of [`'=1+1`, `'@sum`, '-5', `'"=1+1"`]) expect(tsv).toContain(`\t${cell}\tscheduled\n`);
  expect((await box.run(['list'])).stdout).toContain('\t=1+1\tscheduled\n');
  // A spreadsheet may split lines at semicolons.
  await box.run(['enqueue', ...later, '--command=a;=1+1;"-2"']);
  expect((await box.run(['list', '--format', 'csv'])).stdout).toContain(',"a;\'=1+1;\'""-2""",scheduled\n');
});

test('ids, tags and names with invisible characters are refused', async (box) => {
  for (const args of [
    ['enqueue', '--id', '\u3164', 'true'],
    ['enqueue', '--queue', 'a\u2800', 'true'],
    ['enqueue', '--tag', '\u115f=a', 'true'],
    ['enqueue', '--tag', 'a=\u1160b', 'true'],
    ['schedule', 'add', '\uffa0', '--every', '1d', 'true'],
    ['queue', 'set', '\u034f', '--concurrency', '1'],
  ]) {
    const { code, stderr } = await box.run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining('control or invisible characters')]);
  }
});
