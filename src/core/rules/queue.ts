import { invalidValue } from '../errors.ts';
import { isNone } from '../text/words.ts';
import { exactDuration } from '../time/duration.ts';
import type { EventDetail, NewEvent } from './events.ts';

/** A rate limit: at most `jobs` jobs start within `perMs` milliseconds, apart from a burst (see BURST_MS). */
export interface Rate {
  jobs: number;
  perMs: number;
}

/** The state of the token bucket of a rate: how many tokens were left after the last claim, and the time of that claim. */
export interface Tokens {
  left: number;
  at: number;
}

const UNIT_MS = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);
const MAX_JOBS = 1_000_000;

/** Parses a rate such as `10/s`, `100/m` or `5/h`. Returns null for `none`. */
export function parseRate(text: string, what: string): Rate | null {
  if (isNone(text)) return null;
  const match = /^\s*(\d+)\s*\/\s*([smh])\s*$/i.exec(text);
  const jobs = Number(match?.[1]);
  if (match === null || jobs < 1 || jobs > MAX_JOBS) {
    throw invalidValue(`${what}: invalid rate '${text}'`, 'use a rate such as 10/s, 100/m or 5/h, or none');
  }
  return { jobs, perMs: UNIT_MS.get(match[2]!.toLowerCase())! };
}

export function formatRate({ jobs, perMs }: Rate): string {
  const unit = [...UNIT_MS].find(([, ms]) => ms === perMs)?.[0] ?? exactDuration(perMs);
  return `${jobs}/${unit}`;
}

/** By default, the bucket holds the tokens of this time, but at least one token, so that a rate limit allows no large burst. */
const BURST_MS = 100;

/** A worker reads its clock before it waits for others, and the clocks of hosts differ. So its time may be earlier by up to this much. */
const MOST_LATE_MS = 10_000;

/**
 * Returns how many jobs a rate allows now, when it allows the next one (0 means now), and the time `at` for which that holds. `last` is
 * null before the first claim. A claim that is a little late gets what others have left. But if the clock was set back by more, the bucket
 * counts as full instead of staying empty. `burstMs` is the time whose tokens the bucket holds.
 */
export function availableTokens(
  { jobs, perMs }: Rate,
  last: Tokens | null,
  now: number,
  burstMs = BURST_MS,
): { tokens: number; openAt: number; at: number } {
  const tokensPerMs = jobs / perMs;
  const capacity = Math.max(1, tokensPerMs * burstMs);
  if (last === null || last.at > now + MOST_LATE_MS) return { tokens: capacity, openAt: 0, at: now };
  const at = Math.max(now, last.at);
  const tokens = Math.min(capacity, last.left + (at - last.at) * tokensPerMs);
  return { tokens, openAt: tokens >= 1 ? 0 : at + Math.ceil((1 - tokens) / tokensPerMs), at };
}

/** When a queue was paused, and by whom. */
export interface Pause {
  at: number;
  by: string;
}

/** Changes to a queue. A property that is missing stays unchanged. Null removes a limit or the pause. */
export interface QueueChanges {
  paused?: Pause | null;
  concurrency?: number | null;
  rate?: Rate | null;
}

/** The settings of a queue. Null or `none` removes a setting. */
export interface QueueInput {
  /** The maximum number of jobs of the queue that run at a time, over all workers. */
  concurrency?: number | string | null | undefined;
  /** The rate limit, such as `10/s`, `100/m` or `5/h`. */
  rate?: string | null | undefined;
}

/** Returns the events for the changes of a queue. Resuming a queue that was not paused causes no event. */
export function queueChangeEvents(changes: QueueChanges, wasPaused: boolean): NewEvent[] {
  const { paused, concurrency, rate } = changes;
  const events: NewEvent[] = [];
  if (paused) events.push({ kind: 'queue-paused' });
  if (paused === null && wasPaused) events.push({ kind: 'queue-resumed' });
  const detail: EventDetail = {};
  if (concurrency !== undefined) detail.concurrency = concurrency;
  if (rate !== undefined) detail.rate = rate && formatRate(rate);
  if (Object.keys(detail).length > 0) events.push({ kind: 'queue-set', detail });
  return events;
}
