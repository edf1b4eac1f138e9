import { describe, expect } from 'bun:test';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Sandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { sandboxTest, concurrentTest as test } from '../support/sandbox-test.ts';

const NIGHTLY = ['schedule', 'add', 'nightly', '--cron', '30 2 * * *'];

describe.concurrent('a TZ that is not a time zone', () => {
  for (const TZ of ['Foo/Bar', 'EST5EDT,M3.2.0,M11.1.0', 'CET-1CEST', 'UTC+3', '+03:00'])
    sandboxTest(`${TZ} is refused if a command needs local time, and ignored if not`, async (box) => {
      const run = (...args: string[]) => box.run(args, { env: { TZ } });
      expectRefusal(await run(...NIGHTLY, 'true'), 2, /not a known time zone/);
      expectRefusal(await run('enqueue', '--run-at', '2100-01-31T09:00', 'true'), 2, /TZ is /);
      expect(existsSync(box.home)).toBe(false);
      expect((await run('enqueue', '--run-at', '2100-01-31T09:00Z', 'true')).code).toBe(0);
      expect((await run(...NIGHTLY, '--tz', 'Asia/Tokyo', 'true')).code).toBe(0);
    });
});

test('TZ may be a zone name, also after a colon or posix/, or empty for UTC', async (box) => {
  const zoneFor = async (TZ: string): Promise<string> => {
    await box.run(['schedule', 'remove', 'nightly']);
    const { stdout } = await box.run([...NIGHTLY, '--json', 'true'], { env: { TZ } });
    return JSON.parse(stdout).timezone;
  };
  for (const TZ of ['Europe/Berlin', ':Europe/Berlin', 'posix/Europe/Berlin'])
    expect(await zoneFor(TZ)).toBe('Europe/Berlin');
  expect(await zoneFor('')).toBe('UTC');
  expect(['EST5EDT', 'America/New_York']).toContain(await zoneFor('EST5EDT'));
});

/** A value of RunOptions.through that runs queuectl in the directory of makeOddDirectory(). */
const IN_ODD_DIRECTORY = ['sh', '-c', 'cd "$(printf \'odd\\377\')" && exec "$0" "$@"'];

/** Creates a directory whose name is not valid UTF-8. */
function makeOddDirectory(box: Sandbox): void {
  mkdirSync(Buffer.from(`${box.directory}/odd\xff`, 'latin1'));
}

test('in a directory whose name is not UTF-8, enqueue and schedule add refuse relative paths and the default --cwd', async (box) => {
  makeOddDirectory(box);
  const run = (...args: string[]) => box.run(args, { through: IN_ODD_DIRECTORY });
  const before = readdirSync(box.directory);
  expectRefusal(await run('enqueue', 'true'), 2, /working directory is not valid UTF-8/);
  expectRefusal(await run(...NIGHTLY, 'true'), 2, /working directory is not valid UTF-8/);
  expectRefusal(await run('enqueue', '--db', 'q.db', '--cwd', '/', 'true'), 5, /not valid UTF-8/);
  expect(readdirSync(box.directory)).toEqual(before);
  expect((await run('enqueue', '--cwd', '/', 'true')).code).toBe(0);
  expect((await run(...NIGHTLY, '--cwd', '/', 'true')).code).toBe(0);
  expectRefusal(await run('enqueue', '--cwd', 'sub', 'true'), 2, /not valid UTF-8/);
  expect(await box.json<unknown[]>(['list'])).toHaveLength(1);
});

test('with a relative HOME there is no default store, but --db works', async (box) => {
  const env = { HOME: 'relative', QUEUECTL_HOME: '', QUEUECTL_DB: '' };
  const before = readdirSync(box.directory);
  for (const command of [['enqueue', 'true'], ['list'], ['worker', 'start', '--drain']])
    expectRefusal(await box.run(command, { env }), 5, /HOME is 'relative', which is not an absolute path/);
  expect(readdirSync(box.directory)).toEqual(before);
  expect((await box.run(['version'], { env })).code).toBe(0);
  const db = join(box.directory, 'q.db');
  expect((await box.run(['enqueue', '--db', db, 'true'], { env })).code).toBe(0);
});
