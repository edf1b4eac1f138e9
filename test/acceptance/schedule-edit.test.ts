import { expect } from 'bun:test';
import { untilState } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';

test('schedule edit changes the given fields and keeps the others', async (box) => {
  const flags = ['--cron', '30 2 * * *', '--tz', 'Asia/Kolkata', '--queue', 'q', '--tag', 'a=b'];
  const before = await box.json<object>(['schedule', 'add', 'nightly', ...flags, 'echo one']);
  const changes = { cron: '0 3 * * *', text: 'every day at 03:00', command: 'echo two' };
  const edited = await box.json<{ next_runs: string[] }>([
    ...['schedule', 'edit', 'nightly', '--cron', '0 3 * * *', 'echo two'],
  ]);
  expect(edited).toEqual({
    ...{ ...before, ...changes },
    ...{ next_runs: edited.next_runs, next_run_at: edited.next_runs[0] },
  } as never);
  expect(edited.next_runs[0]).toEndWith('T21:30:00.000Z');
  await box.run(['schedule', 'edit', 'nightly', '--', 'echo', 'a b']);
  expect(await box.json(['schedule', 'show', 'nightly'])).toMatchObject({
    ...{ argv: ['echo', 'a b'], cron: '0 3 * * *', queue: 'q' },
  });
  const { id } = await box.json<{ id: string }>(['schedule', 'run', 'nightly']);
  await box.startWorkers('--drain');
  await untilState(box, id, 'completed');
  expect((await box.run(['logs', id])).stdout).toBe('a b\n');
  const beforeRefusals = await box.json(['schedule', 'show', 'nightly']);
  for (const [args, code, says] of [
    [['nightly'], 2, /no changes given/],
    [['nightly', '--cron', '99 * * * *'], 2, /has an invalid minute: '99'/],
    [['nightly', '--every', '1h', '--tz', 'UTC'], 2, /--tz only works with --cron/],
    [['nihgtly', '--cron', '@daily'], 3, /did you mean 'nightly'/],
  ] as const)
    expectRefusal(await box.run(['schedule', 'edit', ...args]), code, says);
  expect(await box.json(['schedule', 'show', 'nightly'])).toEqual(beforeRefusals as never);
});

test('schedule add --dry-run prints the next runs and adds nothing', async (box) => {
  const { code, stdout } = await box.run([
    ...['schedule', 'add', 'x', '--cron', '30 2 * * *', '--tz', 'Europe/Berlin', '--dry-run', 'true'],
  ]);
  expect(code).toBe(0);
  expect(stdout).toStartWith('when\tevery day at 02:30 (30 2 * * *, Europe/Berlin)\nnext\t');
  expect(await box.json(['schedule', 'list'])).toEqual([] as never);
});
