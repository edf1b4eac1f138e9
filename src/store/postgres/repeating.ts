import { pause } from '../../core/clock.ts';
import { mayComeBack, translateError } from './failures.ts';
import type { PostgresLocation } from './location.ts';

/** The longest pause between two tries. */
const LONGEST_PAUSE_MS = 1000;

/**
 * Repeats `work` for at most `waitMs` while the server cannot be reached, and after the errors that `isRepeatable` names. The
 * pauses grow and are random, so that many processes do not connect at the same moment. `work` gets the time of
 * `performance.now()` until which it may wait for the server.
 */
export async function repeat<T>(
  { location, waitMs }: { location: PostgresLocation; waitMs: number },
  work: (deadline: number) => Promise<T>,
  isRepeatable: (error: unknown) => boolean = () => false,
): Promise<T> {
  const deadline = performance.now() + waitMs;
  for (let tries = 0; ; tries++) {
    try {
      return await work(deadline);
    } catch (error) {
      const mayRepeat = isRepeatable(error) || mayComeBack(error);
      if (!mayRepeat || performance.now() >= deadline) throw translateError(error, location);
      const longest = Math.min(LONGEST_PAUSE_MS, 10 * 2 ** tries, deadline - performance.now());
      await pause(Math.max(0, Math.random() * longest));
    }
  }
}
