import { expect } from 'bun:test';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { enqueue } from '../support/queuectl.ts';
import { expectRefusal } from '../support/refusal.ts';
import { concurrentTest as test } from '../support/sandbox-test.ts';
import { onTerminal } from '../support/terminal.ts';

test('a backup to stdout or into a missing directory is refused, and neither backup nor export mentions or leaves a draft', async (box) => {
  await enqueue(box, 'job', 'true');
  writeFileSync(join(box.directory, 'file'), '');
  for (const [target, message] of [
    [join(box.directory, 'none', 'x.db'), /none does not exist/],
    [join(box.directory, 'file', 'x.db'), /file is not a directory/],
  ] as const) {
    const result = await box.run(['backup', target]);
    expectRefusal(result, 2, message);
    expect(result.stderr).not.toMatch(/draft|--db/);
    expect((await box.run(['export', target])).stderr).not.toContain('draft');
  }
  expectRefusal(await box.run(['backup', '-']), 2, /cannot be written to standard output/);
  expect(existsSync(join(box.directory, '-'))).toBe(false);
  expect(readdirSync(box.directory).filter((name) => name.includes('draft'))).toEqual([]);
});

test('restore refuses a file that is not a backup before it asks for confirmation', async (box) => {
  await enqueue(box, 'job', 'true');
  const file = join(box.directory, 'five');
  writeFileSync(file, 'five\n');
  expectRefusal(await box.run(['restore', file]), 5, /five is not a queuectl database/);
  const terminal = onTerminal(box, ['restore', file], 40, 200);
  await terminal.closed;
  expect(terminal.output()).toContain('is not a queuectl database');
  expect(terminal.output()).toContain('queuectl backup');
  expect(terminal.output()).not.toContain('[y/N]');
});
