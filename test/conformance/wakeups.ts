import { describe, expect, test } from 'bun:test';
import { pause } from '../../src/core/time/clock.ts';
import type { OpenedStore } from '../../src/store/open.ts';
import { until } from '../support/queuectl.ts';

const QUIET_MS = 200;

interface WakeupsUnderTest {
  /** Opens the same store twice, as two processes would. Calls `cleanup` after both are closed. */
  open(): Promise<{ one: OpenedStore; two: OpenedStore; cleanup(): void | Promise<void> }>;
}

/** Counts the calls of a callback. */
export class Calls {
  count = 0;
  readonly add = (): void => void this.count++;
  happen(): Promise<unknown> {
    return until(() => this.count > 0, 'a signal arrives');
  }
}

/** Runs every case of src/store/contract/wakeups.ts on a store. */
export function describeWakeups(name: string, { open }: WakeupsUnderTest): void {
  const withWakeups = async (run: (one: OpenedStore, two: OpenedStore) => Promise<void>): Promise<void> => {
    const { one, two, cleanup } = await open();
    try {
      await run(one, two);
    } finally {
      await one.store.close();
      await two.store.close();
      await cleanup();
    }
  };
  describe(`wake-ups of ${name}`, () => {
    test('a wake-up reaches the workers and those that wait for changes', () =>
      withWakeups(async (one, two) => {
        const [wakes, changes] = [new Calls(), new Calls()];
        const ends = [two.wakeups.onWake(wakes.add), two.wakeups.onChange(changes.add)];
        await untilQuiet(wakes, changes);
        one.wakeups.wake();
        await Promise.all([wakes.happen(), changes.happen()]);
        for (const end of ends) end!();
      }));

    test('a change reaches those that wait for changes, but wakes no worker', () =>
      withWakeups(async (one, two) => {
        const [wakes, changes] = [new Calls(), new Calls()];
        const ends = [two.wakeups.onWake(wakes.add), two.wakeups.onChange(changes.add)];
        await untilQuiet(wakes, changes);
        one.wakeups.tellChange();
        await changes.happen();
        await untilQuiet(changes);
        expect(wakes.count).toBe(0);
        for (const end of ends) end!();
      }));

    test.each(['onWake', 'onChange'] as const)(
      '%s reports a signal that follows another one at once',
      (name) =>
        withWakeups(async (one, two) => {
          for (const gapMs of [0, 0, 1, 3, 6]) {
            const calls = new Calls();
            let onCall = (): void => {};
            const end = two.wakeups[name](() => {
              calls.add();
              onCall();
            });
            await untilQuiet(calls);
            // Polling would take longer than the gap.
            const first = new Promise<void>((resolve) => {
              onCall = resolve;
            });
            one.wakeups.wake();
            await first;
            if (gapMs > 0) await pause(gapMs);
            calls.count = 0;
            one.wakeups.wake();
            await calls.happen();
            end!();
          }
        }),
    );

    test('signals are received after the store was closed, until their receiver ends that', () =>
      withWakeups(async (one, two) => {
        const [ended, open] = [new Calls(), new Calls()];
        two.wakeups.onWake(ended.add)!();
        const end = two.wakeups.onWake(open.add);
        await two.store.close();
        await untilQuiet(ended, open);
        one.wakeups.wake();
        await open.happen();
        expect(ended.count).toBe(0);
        end!();
      }));
  });
}

/** Waits until the receivers are ready and no signal has arrived for a while. Forgets the signals that did arrive. */
export async function untilQuiet(...receivers: Calls[]): Promise<void> {
  do {
    for (const calls of receivers) calls.count = 0;
    await pause(QUIET_MS);
  } while (receivers.some((calls) => calls.count > 0));
}
