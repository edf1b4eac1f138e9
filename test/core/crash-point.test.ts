import { afterEach, expect, test } from 'bun:test';
import { armCrashPoint, CRASHES, crashPoint, watchCrashPoints } from '../../src/core/crash-point.ts';
import { caught } from '../support/caught.ts';

afterEach(() => watchCrashPoints(null));

test('dies at the nth passing of that point and no other', () => {
  let deaths = 0;
  armCrashPoint('after-claim:2', () => deaths++);
  for (const name of ['after-claim', 'before-claim', 'in-claim']) crashPoint(name);
  expect(deaths).toBe(0);
  crashPoint('after-claim');
  expect(deaths).toBe(1);
});

test('what happens is as told', () => {
  const done: string[] = [];
  for (const how of CRASHES) {
    armCrashPoint(`before-spawn:1:${how}`, (one) => done.push(one));
    crashPoint('before-spawn');
    crashPoint('before-spawn');
  }
  expect(done).toEqual([...CRASHES]);
});

test('a bare name is its first passing; anything else is refused', () => {
  let deaths = 0;
  armCrashPoint('before-spawn', () => deaths++);
  crashPoint('before-spawn');
  expect(deaths).toBe(1);
  for (const text of ['x', 'before-spawn:0', 'before-spawn:x', 'a b', ':1', 'before-spawn:1:go'])
    expect(caught(() => armCrashPoint(text, () => {})).code).toBe('usage');
});
