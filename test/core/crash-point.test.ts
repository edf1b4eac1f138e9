import { afterEach, expect, test } from 'bun:test';
import { armCrashPoint, CRASHES, crashPoint, watchCrashPoints } from '../../src/core/crash-point.ts';
import { errorOf } from '../support/error-of.ts';

afterEach(() => watchCrashPoints(null));

test('a process dies only when it passes its crash point for the nth time', () => {
  let deaths = 0;
  armCrashPoint('after-claim:2', () => deaths++);
  for (const name of ['after-claim', 'before-claim', 'in-claim']) crashPoint(name);
  expect(deaths).toBe(0);
  crashPoint('after-claim');
  expect(deaths).toBe(1);
});

test('a crash point has the given effect, once', () => {
  const done: string[] = [];
  for (const kind of CRASHES) {
    armCrashPoint(`before-spawn:1:${kind}`, (one) => done.push(one));
    crashPoint('before-spawn');
    crashPoint('before-spawn');
  }
  expect(done).toEqual([...CRASHES]);
});

test('a name without a number means the first pass, and other texts are refused', () => {
  let deaths = 0;
  armCrashPoint('before-spawn', () => deaths++);
  crashPoint('before-spawn');
  expect(deaths).toBe(1);
  for (const text of ['x', 'before-spawn:0', 'before-spawn:x', 'a b', ':1', 'before-spawn:1:go'])
    expect(errorOf(() => armCrashPoint(text, () => {})).code).toBe('usage');
});
