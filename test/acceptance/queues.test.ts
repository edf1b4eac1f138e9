import { expect } from 'bun:test';
import { join } from 'node:path';
import { enqueue, lines, until } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest, sandboxTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

/** Returns the highest number of jobs that ran at the same time, from the order of the start and end lines. */
function mostAtOnce(log: string[]): number {
  let running = 0;
  let most = 0;
  for (const line of log) {
    running += line === 'start' ? 1 : -1;
    most = Math.max(most, running);
  }
  return most;
}

test('a concurrency limit holds across four worker processes, and a new limit takes effect while they run', async (box) => {
  await box.run(['queue', 'set', 'mail', '--concurrency', '2']);
  // The end is written before the slot is free, so the file never shows more running jobs than there were.
  const command = 'echo start >>log; sleep 0.2; echo end >>log\n';
  await box.run(['enqueue', '--queue', 'mail', '--file', '-'], { stdin: command.repeat(40) });
  const log = () => lines(join(box.directory, 'log'));
  await box.startWorkers('--count', '4');
  await until(() => log().length >= 16, 'eight jobs have run');
  const linesSoFar = log();
  expect(mostAtOnce(linesSoFar)).toBe(2);
  await box.run(['queue', 'set', 'mail', '--concurrency', '4']);
  await until(() => log().length === 80, 'all jobs have run');
  expect(mostAtOnce(log())).toBeGreaterThan(2);
  expect(mostAtOnce(log())).toBeLessThanOrEqual(4);
});

test('max-concurrent-jobs holds from the moment it is set, even before workers reload their settings', async (box) => {
  await box.run(['config', 'set', 'lease', '1h']);
  await box.run(['config', 'set', 'heartbeat-interval', '5m']);
  await box.startWorkers('--count', '3');
  await box.run(['config', 'set', 'max-concurrent-jobs', '1']);
  const command = 'echo start >>log; sleep 0.2; echo end >>log\n';
  await box.run(['enqueue', '--file', '-'], { stdin: command.repeat(6) });
  const log = () => lines(join(box.directory, 'log'));
  await until(() => log().length === 12, 'all jobs have run');
  expect(mostAtOnce(log())).toBe(1);
});

test('queue pause --all and queue resume --all change every queue and accept no queue name', async (box) => {
  for (const queue of ['mail', 'web']) await box.run(['enqueue', '--queue', queue, 'true']);
  const listPaused = async (): Promise<unknown> =>
    JSON.parse((await box.run(['queue', 'list', '--json=name,paused'])).stdout);
  const bothPaused = (value: boolean) => [
    { name: 'mail', paused: value },
    { name: 'web', paused: value },
  ];
  expect(await listPaused()).toEqual(bothPaused(false));
  expect(await box.run(['queue', 'pause', '--all'])).toMatchObject({ code: 0 });
  expect(await listPaused()).toEqual(bothPaused(true));
  expect(await box.run(['queue', 'resume', '--all', '--json'])).toMatchObject({ code: 0 });
  expect(await listPaused()).toEqual(bothPaused(false));
  expectRefusal(await box.run(['queue', 'pause', '--all', 'mail']), 2, /either/);
});

concurrentTest(
  'queue pause and resume refuse an unknown queue, and queue set reports on a terminal that it creates one',
  async (box) => {
    await enqueue(box, 'job', 'true', { queue: 'mail' });
    for (const verb of ['pause', 'resume']) {
      const refused = await box.run(['queue', verb, 'mial']);
      expectRefusal(refused, 3, /there is no queue 'mial'; did you mean 'mail'\?/);
    }
    expect(await box.json(['queue', 'list'])).toHaveLength(1);
    const created = onTerminal(box, ['queue', 'set', 'mial', '--concurrency', '2'], 24, 120);
    await created.closed;
    expect(created.output()).toContain('note: queue mial did not exist; creating it');
    const known = onTerminal(box, ['queue', 'set', 'mail', '--concurrency', '2'], 24, 120);
    await known.closed;
    expect(known.output()).not.toContain('did not exist');
  },
);

concurrentTest('queue delete removes a queue only if it has no jobs and no schedule uses it', async (box) => {
  await enqueue(box, 'job', 'true', { queue: 'mail' });
  await box.run(['queue', 'set', 'mial', '--concurrency', '2']);
  await box.run(['schedule', 'add', 'nightly', '--cron', '@daily', '--queue', 'backup', 'true']);
  await box.run(['queue', 'set', 'backup', '--concurrency', '2']);
  expect(await box.run(['queue', 'delete', 'mial'])).toEqual({ code: 0, stdout: 'mial\n', stderr: '' });
  expect((await box.run(['queue', 'delete', 'mial'])).code).toBe(3);
  for (const name of ['mail', 'backup']) expect((await box.run(['queue', 'delete', name])).code).toBe(4);
  const remaining = await box.json<{ name: string }[]>(['queue', 'list']);
  expect(remaining.map((queue) => queue.name)).toEqual(['backup', 'mail']);
});
