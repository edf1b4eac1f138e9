import { growingPause, pause } from '../../../core/time/clock.ts';
import { isConflict, mayComeBack, translateError } from './failures.ts';
import type { PostgresLocation } from './location.ts';

/** The longest pause between two tries. */
const LONGEST_PAUSE_MS = 1000;

/** The pause after a conflict is at least this long. Otherwise the next try may take its locks before the other transaction goes on. */
const CONFLICT_PAUSE_MS = 50;

interface Repetition {
  location: PostgresLocation;
  waitMs: number;
  /** Tells that the store could be opened before. */
  wasOpen: boolean;
}

/**
 * Repeats `work` for at most `waitMs` while the server cannot be reached, and after the errors that `isRepeatable` names. After a
 * conflict it is repeated at least once, because the server may take longer than `waitMs` to notice a deadlock. The pauses grow
 * and are random, so that many processes do not connect at the same moment. `work` gets the time of `performance.now()` until which
 * it may wait for the server.
 */
export async function repeat<T>(
  { location, waitMs, wasOpen }: Repetition,
  work: (deadline: number) => Promise<T>,
  isRepeatable: (error: unknown) => boolean = () => false,
): Promise<T> {
  const deadline = performance.now() + waitMs;
  let hasRepeatedConflict = false;
  for (let tries = 0; ; tries++) {
    try {
      return await work(deadline);
    } catch (error) {
      const mayRepeat = isRepeatable(error) || mayComeBack(error);
      const isOver = performance.now() >= deadline && !(isConflict(error) && !hasRepeatedConflict);
      if (!mayRepeat || isOver) throw translateError(error, location, wasOpen);
      hasRepeatedConflict ||= isConflict(error);
      const longest = growingPause(tries, 10, Math.min(LONGEST_PAUSE_MS, deadline - performance.now()));
      const shortest = isConflict(error) ? CONFLICT_PAUSE_MS : 0;
      await pause(Math.max(shortest, Math.random() * longest));
    }
  }
}
