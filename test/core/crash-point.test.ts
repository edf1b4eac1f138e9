import { afterEach, expect, test } from 'bun:test';
import { armCrashPoint, CRASHES, crashPoint, watchCrashPoints } from '../../src/core/crash-point.ts';
import { errorOf } from '../support/error-of.ts';

afterEach(() => watchCrashPoints(null));

test('an armed crash point injects its fault only at the nth pass', () => {
  let faults = 0;
  armCrashPoint('after-claim:2', () => faults++);
  for (const name of ['after-claim', 'before-claim', 'in-claim']) crashPoint(name);
  expect(faults).toBe(0);
  crashPoint('after-claim');
  expect(faults).toBe(1);
});

test('an armed crash point injects each kind of fault once', () => {
  const injected: string[] = [];
  for (const kind of CRASHES) {
    armCrashPoint(`before-spawn:1:${kind}`, (one) => injected.push(one));
    crashPoint('before-spawn');
    crashPoint('before-spawn');
  }
  expect(injected).toEqual([...CRASHES]);
});

test('a name without a number means the first pass', () => {
  let faults = 0;
  armCrashPoint('before-spawn', () => faults++);
  crashPoint('before-spawn');
  expect(faults).toBe(1);
});

test('invalid texts are refused', () => {
  for (const text of ['x', 'before-spawn:0', 'before-spawn:x', 'a b', ':1', 'before-spawn:1:go'])
    expect(errorOf(() => armCrashPoint(text, () => {})).code).toBe('usage');
});
