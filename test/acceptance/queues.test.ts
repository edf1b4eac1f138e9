import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { inSandbox, lines, until } from '../support/queuectl.ts';

/** Returns the highest number of jobs between their start and end lines, by the order of lines on disk. */
function mostAtOnce(log: string[]): number {
  let now = 0;
  let most = 0;
  for (const line of log) {
    now += line === 'start' ? 1 : -1;
    most = Math.max(most, now);
  }
  return most;
}

test(
  'a limit of 2 holds over four worker processes, and a new limit of 4 takes effect at once',
  inSandbox(async (box) => {
    await box.run(['queue', 'set', 'mail', '--concurrency', '2']);
    // The end is written before the slot is free, so the file never shows more jobs than there were.
    const command = 'echo start >>log; sleep 0.2; echo end >>log\n';
    await box.run(['enqueue', '--queue', 'mail', '--file', '-'], { stdin: command.repeat(40) });
    const log = () => lines(join(box.directory, 'log'));
    await box.startWorkers('--count', '4');
    await until(() => log().length >= 16, 'some of them have run');
    const before = log();
    expect(mostAtOnce(before)).toBe(2);
    await box.run(['queue', 'set', 'mail', '--concurrency', '4']);
    await until(() => log().length === 80, 'all of them have run');
    expect(mostAtOnce(log())).toBeGreaterThan(2);
    expect(mostAtOnce(log())).toBeLessThanOrEqual(4);
  }),
);

test(
  'max-concurrent-jobs holds from the moment it is set, even before workers reload their settings',
  inSandbox(async (box) => {
    await box.run(['config', 'set', 'lease', '1h']);
    await box.run(['config', 'set', 'heartbeat-interval', '5m']);
    await box.startWorkers('--count', '3');
    await box.run(['config', 'set', 'max-concurrent-jobs', '1']);
    const command = 'echo start >>log; sleep 0.2; echo end >>log\n';
    await box.run(['enqueue', '--file', '-'], { stdin: command.repeat(6) });
    const log = () => lines(join(box.directory, 'log'));
    await until(() => log().length === 12, 'all of them have run');
    expect(mostAtOnce(log())).toBe(1);
  }),
);
