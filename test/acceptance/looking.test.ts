import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { inSandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';

const LOOKING = [
  ...[['status'], ['list'], ['dlq', 'list'], ['queue', 'list'], ['schedule', 'list'], ['worker', 'list']],
  ...[
    ['stats'],
    ['stats', '--range', '1h'],
    ['metrics'],
    ['events'],
    ['config', 'list'],
    ['config', 'get', 'lease'],
  ],
  ...[
    ['top', '--once'],
    ['list', '--json'],
    ['status', '--json'],
    ['prune', '--dry-run'],
  ],
  ...[
    ['cancel', '--state', 'pending', '--yes'],
    ['dlq', 'retry', '--all'],
    ['__complete', 'show', ''],
  ],
];

test(
  'without a queue, commands that look show nothing, create nothing and exit with 0',
  inSandbox(async (box) => {
    const db = join(box.home, 'new', 'queue.db');
    for (const command of LOOKING) {
      const result = await box.run(command, { env: { QUEUECTL_DB: db } });
      expect({ command, ...result }).toMatchObject({ command, code: 0 });
      expect(result.stderr).toBe(
        command.includes('--json') || command[0] === '__complete'
          ? ''
          : `note: there is no queue at ${db} yet\n`,
      );
    }
    expect(existsSync(box.home)).toBe(false);
    expect((await box.run(['list', '--json'])).stdout).toBe('[]\n');
  }),
);

test(
  'without a queue, commands that need a job or a queue name what is missing and create nothing',
  inSandbox(async (box) => {
    for (const command of [
      ['show', 'x'],
      ['cancel', 'x'],
      ['logs', 'x'],
      ['explain', 'x'],
      ['retry', 'x'],
    ])
      expectRefusal(await box.run(command), 3, /there is no job 'x'/);
    for (const command of ['pause', 'resume', 'delete'])
      expectRefusal(await box.run(['queue', command, 'mail']), 3, /there is no queue 'mail'/);
    expect(existsSync(box.home)).toBe(false);
  }),
);

test(
  'commands that add something create the queue',
  inSandbox(async (box) => {
    const ways = [
      ['enqueue', 'true'],
      ['queue', 'set', 'mail', '--concurrency', '1'],
      ['config', 'set', 'lease', '20s'],
    ];
    for (const [i, command] of ways.entries()) {
      const env = { QUEUECTL_DB: join(box.home, String(i), 'queue.db') };
      expect(await box.run(command, { env })).toMatchObject({ code: 0 });
      expect(readdirSync(join(box.home, String(i)))).toContain('queue.db');
    }
  }),
);

test(
  'refuses a --db whose directory does not exist',
  inSandbox(async (box) => {
    const missing = join(box.home, 'mistyped', 'queue.db');
    for (const command of [['list'], ['enqueue', 'true'], ['worker', 'start'], ['serve', '--port', '0']])
      expectRefusal(await box.run(['--db', missing, ...command]), 5, /there is no directory .*mistyped/);
    expect(existsSync(box.home)).toBe(false);
  }),
);

test(
  'refuses unknown kinds of databases and never shows a password',
  inSandbox(async (box) => {
    for (const url of ['mysql://me:hush@h/d', 'redis://', 'foo:x', 'file://host/x.db', 'sqlite:', ':memory:'])
      for (const command of [['enqueue', 'true'], ['list']]) {
        const refused = await box.run(['--db', url, ...command]);
        expectRefusal(refused, 5, /database/);
        expect(refused.stderr).not.toContain('hush');
      }
    expect(existsSync(box.home)).toBe(false);
    mkdirSync(box.home, { mode: 0o700 });
    for (const url of [`file://${box.home}/a.db`, `sqlite:${box.home}/a.db`, `sqlite:///${box.home}/a.db`])
      expect(await box.run(['--db', url, 'enqueue', 'true'])).toMatchObject({ code: 0 });
    expect((await box.run(['--db', join(box.home, 'a.db'), 'list', '-q'])).stdout.split('\n')).toHaveLength(
      4,
    );
  }),
);

test(
  'queue pause and resume take an existing queue or --all',
  inSandbox(async (box) => {
    for (const queue of ['mail', 'web']) await box.run(['enqueue', '--queue', queue, 'true']);
    const refused = await box.run(['queue', 'pause', 'mial']);
    expectRefusal(refused, 3, /there is no queue 'mial'; did you mean 'mail'\?/);
    const paused = async (): Promise<unknown> =>
      JSON.parse((await box.run(['queue', 'list', '--json=name,paused'])).stdout);
    const both = (value: boolean) => [
      { name: 'mail', paused: value },
      { name: 'web', paused: value },
    ];
    expect(await paused()).toEqual(both(false));
    expect(await box.run(['queue', 'pause', '--all'])).toMatchObject({ code: 0 });
    expect(await paused()).toEqual(both(true));
    expect(await box.run(['queue', 'resume', '--all', '--json'])).toMatchObject({ code: 0 });
    expect(await paused()).toEqual(both(false));
    expectRefusal(await box.run(['queue', 'pause', '--all', 'mail']), 2, /either/);
  }),
);
