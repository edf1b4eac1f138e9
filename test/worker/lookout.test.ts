import { describe, expect, test } from 'bun:test';
import { createLookout } from '../../src/worker/lookout.ts';
import { until } from '../support/queuectl.ts';

describe('the lookout of a worker', () => {
  test('the first round looks, the next ones do not, and a later one does', () => {
    let now = 0;
    const lookout = createLookout(
      () => {},
      () => now,
    );
    expect([lookout.isDue(), lookout.isDue()]).toEqual([true, false]);
    now = 60_000;
    expect([lookout.isDue(), lookout.isDue()]).toEqual([true, false]);
  });

  test('the round after a wake-up looks', () => {
    const lookout = createLookout(
      () => {},
      () => 0,
    );
    expect([lookout.isDue(), lookout.isDue()]).toEqual([true, false]);
    lookout.wake();
    expect([lookout.isDue(), lookout.isDue()]).toEqual([true, false]);
  });

  test('a round that did not look is followed by one that does', async () => {
    const looked: boolean[] = [];
    const lookout = createLookout(
      () => looked.push(lookout.isDue()),
      () => performance.now(),
    );
    lookout.isDue();
    expect(lookout.isDue()).toBe(false);
    await until(() => looked.includes(true), 'a round has looked');
  });
});
