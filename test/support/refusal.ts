import { expect } from 'bun:test';
import type { Result } from './queuectl.ts';

/** Expects this exit code, a short error line that matches, at most one line of hint, no stdout and no stack trace. */
export function expectRefusal(result: Result, code: number, message: RegExp): void {
  expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' });
  const [first, ...more] = result.stderr.trimEnd().split('\n');
  expect(first).toMatch(/^error: /);
  expect(first).toMatch(message);
  expect(first!.length).toBeLessThan(500);
  expect(more.length).toBeLessThanOrEqual(1);
  for (const line of more) expect(line).toStartWith('  ');
  expect(result.stderr).not.toMatch(/^\s+at /m);
}
