import { expect, test } from 'bun:test';
import { logDirectory } from './f44-log-directory.ts';
import { seedOf } from './figures.ts';

test('F44: whatever becomes of its directory, a job runs on, and no other file is touched', async () => {
  const { violations } = await logDirectory('small', seedOf('F44'));
  expect(violations).toEqual([]);
});
