import { ATTEMPT_OUTCOMES, type AttemptOutcome, attemptOutcome, countsRunTime } from '../../core/figures.ts';
import { bucketOf } from '../../core/histogram.ts';
import { addToPacked } from '../../core/packed-counts.ts';
import { inAllTimeAndTiers, inEveryTier } from '../../core/tiers.ts';
import type { Settlement } from '../contract/claims.ts';
import type { Row } from '../row.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/figures.ts';
import { kindFinder } from './tally.ts';

/** Counts an attempt whose settlement was applied. `attempt` is its row before the settlement. */
export function countAttempt(db: Connection, attempt: Row, settlement: Settlement): void {
  const { transition, why, finishedAt, durationMs } = settlement;
  const startedAt = attempt.started_at as number;
  const at = Math.max(startedAt, finishedAt);
  const outcome = attemptOutcome(transition.to, why);
  const waitMs = attempt.ordinal === 1 ? Math.max(0, attempt.wait_ms as number) : null;
  const runMs = countsRunTime(outcome, why) ? (durationMs ?? at - startedAt) : null;
  const kind = (attempt.kind ?? kindFinder(db)(attempt.queue as number, attempt.name as string)) as number;
  const waitBucket = waitMs === null ? null : bucketOf(waitMs);
  const runBucket = runMs === null ? null : bucketOf(runMs);
  inAllTimeAndTiers(at, (tier, start) => {
    const packed = db.get(sql.packedTimes, tier, start, kind);
    if (packed === undefined) db.run(sql.insertRollup, tier, start, kind);
    const wait = addTime(packed?.wait, waitBucket);
    const run = addTime(packed?.run, runBucket);
    db.run(COUNT_ATTEMPT[outcome], waitMs, wait, runMs, run, tier, start, kind);
  });
}

const COUNT_ATTEMPT = Object.fromEntries(
  ATTEMPT_OUTCOMES.map((outcome) => [outcome, sql.countAttempt(outcome)]),
) as Record<AttemptOutcome, string>;

/**
 * Returns the packed counts with one more time. SQL could change only a histogram that is stored as JSON or in rows of its own,
 * which would cost several times as much.
 */
function addTime(packed: Row[string] | undefined, bucket: number | null): Uint8Array | null {
  return bucket === null ? null : addToPacked((packed ?? null) as Uint8Array | null, bucket);
}

/** Records how long the oldest waiting job of a queue has been waiting. The figure belongs to the whole queue, so it has no job name. */
export function recordOldestWaiting(db: Connection, queue: number, ms: number, now: number): void {
  const kind = kindFinder(db)(queue, '');
  inEveryTier(now, (tier, start) => db.run(sql.countWaiting, tier, start, kind, ms));
}
