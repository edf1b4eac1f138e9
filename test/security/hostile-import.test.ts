import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue, inSandbox } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';

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
  ['event', 'at', 9007199254740994],
  ['event', 'number', 2 ** 53 - 1],
];

test.concurrent(
  'import refuses numbers and times out of range, names their line and column, and adds nothing',
  inSandbox(async (box) => {
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
  }),
);
