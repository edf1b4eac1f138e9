import { checkDuration, parseDuration } from '../core/duration.ts';
import { parseNumber } from '../core/numbers.ts';
import type { QueueChanges } from '../core/queue.ts';
import { parseRate } from '../core/rate.ts';
import { RANGES } from '../core/settings.ts';

/** The settings of a queue. Null or `none` removes a setting. */
export interface QueueInput {
  /** The maximum number of jobs of the queue that run at a time, over all workers. */
  concurrency?: number | string | null | undefined;
  /** The rate limit, such as `10/s`, `100/m` or `5/h`. */
  rate?: string | null | undefined;
  /** How often the priority of a waiting job rises by 1: a number of seconds, or a text such as `1m`. */
  priority_aging?: number | string | null | undefined;
}

const CONCURRENCY_RANGE = { min: 1, max: 1_000_000, integer: true };

/** Reads the settings. `nameOf` returns the name of a field for error messages. */
export function readQueueInput(given: QueueInput, nameOf = (field: string): string => field): QueueChanges {
  const changes: QueueChanges = {};
  const { concurrency, rate, priority_aging: aging } = given;
  if (concurrency !== undefined)
    changes.concurrency = readUnlessNone(concurrency, (text) =>
      parseNumber(text, nameOf('concurrency'), CONCURRENCY_RANGE),
    );
  if (rate !== undefined) changes.rate = readUnlessNone(rate, (text) => parseRate(text, nameOf('rate')));
  if (aging !== undefined) {
    const what = nameOf('priority_aging');
    changes.agingMs = readUnlessNone(aging, (text) =>
      checkDuration(parseDuration(text, what), what, RANGES.durationMs, text),
    );
  }
  return changes;
}

/** Returns null for null or `none`, and otherwise the value that `read` returns. */
function readUnlessNone<T>(value: number | string | null, read: (text: string) => T): T | null {
  const text = value === null ? 'none' : String(value).trim();
  return text.toLowerCase() === 'none' ? null : read(text);
}
