import {
  ATTEMPT_OUTCOMES,
  type AttemptOutcome,
  attemptOutcome,
  countsRunTime,
} from '../../core/rules/figures.ts';
import { addToPacked, bucketOf } from '../../core/rules/histogram.ts';
import { inAllTimeAndTiers } from '../../core/rules/tiers.ts';
import type { Settlement } from '../contract/claims.ts';
import type { Row } from '../row.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/figures.ts';
import { kindFinder } from './tally.ts';

/** Collects the attempts that one transaction settles, so that each of their rollup rows is read and written once. */
export interface AttemptTally {
  /** Counts an attempt whose settlement was applied. `attempt` is its row before the settlement. */
  add(attempt: Row, settlement: Settlement): void;
  write(): void;
}

/** The attempts to add to one rollup row. */
interface RollupChange {
  tier: number;
  start: number;
  kind: number;
  attempts: CountedAttempt[];
}

interface CountedAttempt {
  outcome: AttemptOutcome;
  /** Null if the time does not count. */
  waitMs: number | null;
  runMs: number | null;
}

export function newAttemptTally(db: Connection): AttemptTally {
  const changes = new Map<string, RollupChange>();
  return {
    add(attempt, settlement) {
      const at = Math.max(attempt.started_at as number, settlement.finishedAt);
      const kind = (attempt.kind ??
        kindFinder(db)(attempt.queue as number, attempt.name as string)) as number;
      const counted = countedAttempt(attempt, settlement, at);
      inAllTimeAndTiers(at, (tier, start) => {
        const key = `${tier} ${start} ${kind}`;
        const change = changes.get(key);
        if (change === undefined) changes.set(key, { tier, start, kind, attempts: [counted] });
        else change.attempts.push(counted);
      });
    },
    write() {
      for (const change of changes.values()) changeRollup(db, change);
    },
  };
}

function countedAttempt(attempt: Row, settlement: Settlement, at: number): CountedAttempt {
  const { transition, why, durationMs } = settlement;
  const outcome = attemptOutcome(transition.to, why);
  return {
    outcome,
    waitMs: attempt.ordinal === 1 ? Math.max(0, attempt.wait_ms as number) : null,
    runMs: countsRunTime(outcome, why) ? (durationMs ?? at - (attempt.started_at as number)) : null,
  };
}

function changeRollup(db: Connection, { tier, start, kind, attempts }: RollupChange): void {
  const packed = db.get(sql.packedTimes, tier, start, kind);
  const counts = ATTEMPT_OUTCOMES.map((one) => attempts.filter(({ outcome }) => outcome === one).length);
  const waits = attempts.map((one) => one.waitMs).filter((ms) => ms !== null);
  const runs = attempts.map((one) => one.runMs).filter((ms) => ms !== null);
  db.run(
    packed === undefined ? sql.countFirstAttempts : sql.countAttempts,
    ...counts,
    ...withTimes(waits, packed?.wait),
    ...withTimes(runs, packed?.run),
    ...[tier, start, kind],
  );
}

/**
 * Returns the sum, the minimum and the maximum of the times, and the packed counts with them. SQL could change only a histogram
 * that is stored as JSON or in rows of its own, which would cost several times as much.
 */
function withTimes(times: number[], packed: Row[string] | undefined): (number | Uint8Array | null)[] {
  if (times.length === 0) return [0, null, null, null];
  const sum = times.reduce((total, ms) => total + ms, 0);
  let counts = (packed ?? null) as Uint8Array | null;
  for (const ms of times) counts = addToPacked(counts, bucketOf(ms));
  return [sum, Math.min(...times), Math.max(...times), counts];
}
