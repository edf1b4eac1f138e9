import { describe, expect, test } from 'bun:test';
import { pause } from '../../src/core/clock.ts';
import type { OpenedStore } from '../../src/store/store-kind.ts';
import { until } from '../support/queuectl.ts';

const QUIET_MS = 200;

interface SignalsUnderTest {
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

/** Runs every case of src/store/contract/signals.ts on a store. */
export function describeSignals(name: string, { open }: SignalsUnderTest): void {
  const withSignals = async (run: (one: OpenedStore, two: OpenedStore) => Promise<void>): Promise<void> => {
    const { one, two, cleanup } = await open();
    try {
      await run(one, two);
    } finally {
      await one.store.close();
      await two.store.close();
      await cleanup();
    }
  };
  describe(`signals of ${name}`, () => {
    test('a wake-up reaches the workers and those that wait for changes', () =>
      withSignals(async (one, two) => {
        const [wakes, changes] = [new Calls(), new Calls()];
        const ends = [two.signals.onWake(wakes.add), two.signals.onChange(changes.add)];
        await untilQuiet(wakes, changes);
        one.signals.wake();
        await Promise.all([wakes.happen(), changes.happen()]);
        for (const end of ends) end!();
      }));

    test('a change reaches those that wait for changes, but wakes no worker', () =>
      withSignals(async (one, two) => {
        const [wakes, changes] = [new Calls(), new Calls()];
        const ends = [two.signals.onWake(wakes.add), two.signals.onChange(changes.add)];
        await untilQuiet(wakes, changes);
        one.signals.tellChange();
        await changes.happen();
        await untilQuiet(changes);
        expect(wakes.count).toBe(0);
        for (const end of ends) end!();
      }));

    test.each(['onWake', 'onChange'] as const)(
      '%s reports a signal that follows another one at once',
      (name) =>
        withSignals(async (one, two) => {
          for (const gapMs of [0, 0, 1, 3, 6]) {
            const calls = new Calls();
            let onCall = (): void => {};
            const end = two.signals[name](() => {
              calls.add();
              onCall();
            });
            await untilQuiet(calls);
            // Polling would take longer than the gap.
            const first = new Promise<void>((resolve) => {
              onCall = resolve;
            });
            one.signals.wake();
            await first;
            if (gapMs > 0) await pause(gapMs);
            calls.count = 0;
            one.signals.wake();
            await calls.happen();
            end!();
          }
        }),
    );

    test('signals are received after the store was closed, until their receiver ends that', () =>
      withSignals(async (one, two) => {
        const [ended, open] = [new Calls(), new Calls()];
        two.signals.onWake(ended.add)!();
        const end = two.signals.onWake(open.add);
        await two.store.close();
        await untilQuiet(ended, open);
        one.signals.wake();
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
