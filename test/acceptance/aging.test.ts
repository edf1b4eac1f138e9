import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { EXECUTABLE, inSandbox, lines, until } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';

test.concurrent(
  'a low-priority job waits behind a stream of high-priority jobs until the queue has priority aging',
  inSandbox(async (box) => {
    const log = () => lines(join(box.directory, 'log'));
    // Each high-priority job enqueues the next one, until the low-priority job has run.
    const script = join(box.directory, 'again');
    writeFileSync(
      script,
      `echo high >>log; grep -q low log || ${EXECUTABLE} enqueue -p high "sh ${script}"\n`,
    );
    await box.run(['enqueue', 'echo low >>log']);
    await box.run(['enqueue', '-p', 'high', `sh ${script}`]);
    await box.startWorkers();
    await until(() => log().length >= 25, 'some high jobs have run');
    expect(log()).not.toContain('low');
    await box.run(['queue', 'set', 'default', '--priority-aging', '10ms']);
    await until(() => log().includes('low'), 'the low job has run');
  }),
);

test.concurrent(
  'the priority aging of a queue can be set, listed and removed, and invalid values change nothing',
  inSandbox(async (box) => {
    expect(await box.json(['queue', 'set', 'mail', '--priority-aging', '90s'])).toMatchObject({
      name: 'mail',
      priority_aging_ms: 90_000,
      rate: null,
    });
    for (const [value, message] of [
      ['0', /--priority-aging.*0/],
      ['-1s', /--priority-aging/],
      ['soon', /--priority-aging: invalid duration 'soon'/],
      ['', /--priority-aging/],
      ['99999d', /--priority-aging.*99999d/],
    ] as const)
      expectRefusal(await box.run(['queue', 'set', 'mail', `--priority-aging=${value}`]), 2, message);
    expectRefusal(
      await box.run(['queue', 'set', 'mail']),
      2,
      /requires --concurrency, --rate or --priority-aging/,
    );
    expect(await box.json(['queue', 'list'])).toMatchObject([{ name: 'mail', priority_aging_ms: 90_000 }]);
    expect((await box.run(['queue', 'list'])).stdout).toContain('\t90s\t');
    expect(await box.json(['queue', 'set', 'mail', '--priority-aging', 'none'])).toMatchObject({
      priority_aging_ms: null,
    });
  }),
);
