import { describe, expect, test } from 'bun:test';
import { createLookout } from '../../src/worker/rounds.ts';
import { until } from '../support/queuectl.ts';

describe('the lookout of a worker', () => {
  test('the first round looks, the rounds after a look do not, and a later one does', () => {
    let now = 0;
    const lookout = createLookout(
      () => {},
      () => now,
    );
    expect(lookout.isDue()).toBe(true);
    lookout.looked();
    expect(lookout.isDue()).toBe(false);
    now = 60_000;
    expect(lookout.isDue()).toBe(true);
  });

  test('the round after a wake-up looks', () => {
    const lookout = createLookout(
      () => {},
      () => 0,
    );
    lookout.looked();
    expect(lookout.isDue()).toBe(false);
    lookout.wake();
    expect(lookout.isDue()).toBe(true);
  });

  test('a round that did not look is followed by one that does', async () => {
    const looked: boolean[] = [];
    const lookout = createLookout(
      () => looked.push(lookout.isDue()),
      () => performance.now(),
    );
    lookout.looked();
    expect(lookout.isDue()).toBe(false);
    await until(() => looked.includes(true), 'a round has looked');
  });

  test('a look that is wanted later starts a round, unless the worker has looked before', async () => {
    const rounds: string[] = [];
    const lookoutOf = (name: string) =>
      createLookout(
        () => rounds.push(name),
        () => performance.now(),
      );
    const early = lookoutOf('early');
    const late = lookoutOf('late');
    for (const lookout of [early, late]) {
      lookout.looked();
      lookout.lookLater();
    }
    early.looked();
    await until(() => rounds.length > 0, 'a round has started');
    expect(rounds).toEqual(['late']);
  });
});
