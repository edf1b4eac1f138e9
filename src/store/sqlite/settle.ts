import { attemptEndedEvent } from '../../core/rules/events.ts';
import type { Settlement } from '../contract/claims.ts';
import { rowAfter, withoutRetry } from '../parts/settle.ts';
import type { SettledRow } from '../steps.ts';
import type { Connection } from './connection.ts';
import { recordAttemptEvent } from './record-events.ts';
import { type AttemptTally, newAttemptTally } from './rollups.ts';
import * as sql from './sql/claims.ts';

/** Settles attempts, and returns the jobs of those whose claims still held. */
export function settleJobs(db: Connection, settlements: Settlement[], actor: string | null): SettledRow[] {
  const figures = newAttemptTally(db);
  const rows: SettledRow[] = [];
  for (const [ordinal, settlement] of settlements.entries()) {
    const row = settleJob(db, settlement, actor, figures);
    if (row !== null) rows.push({ ordinal, ...row });
  }
  figures.write();
  return rows;
}

type EndingJob = Pick<SettledRow, 'number' | 'id' | 'is_limited'> & { queue_name: string };

function settleJob(
  db: Connection,
  given: Settlement,
  actor: string | null,
  figures: AttemptTally,
): Omit<SettledRow, 'ordinal'> | null {
  const { claim, finishedAt } = given;
  const ending = db.get(sql.endingAttempt, claim.attempt, claim.job);
  if (ending === undefined) return null;
  const settlement = ending.end_reason === 'cancelled' ? withoutRetry(given) : given;
  const { transition, exitCode, output } = settlement;
  const { state, phase, dueAt, finishedAt: endedAt } = rowAfter(transition, finishedAt);
  const applied = db.run(
    sql.settleJob,
    ...[state, phase, transition.attempts, transition.crashes, dueAt, endedAt],
    ...[finishedAt, exitCode, settlement.error, settlement.durationMs ?? null],
    ...[finishedAt, output.remainingBytes ?? output.bytes, claim.job, claim.token],
  );
  if (applied === 0) return null;
  updateAttempt(db, settlement);
  recordAttemptEvent(db, attemptEndedEvent(settlement), claim.attempt, actor);
  // The attempt is missing if a repair saved only the job.
  if (ending.started_at !== null) figures.add(ending, settlement);
  const { number, id, is_limited, queue_name } = ending as unknown as EndingJob;
  return {
    ...{ number, id, queue: queue_name, is_limited, state, phase },
    if_cancelled: settlement === given ? 0 : 1,
    // Most jobs have no dependents, so their end costs only this lookup.
    waited_for: phase === 'ended' && db.get(sql.anyDependent, number) !== undefined ? 1 : 0,
  };
}

function updateAttempt(db: Connection, settlement: Settlement): void {
  const { claim, output, leftBehind } = settlement;
  db.run(
    sql.settleAttempt,
    ...[settlement.finishedAt, settlement.why, settlement.exitCode, settlement.error, output.bytes],
    ...[output.truncated ? 1 : 0, leftBehind.length === 0 ? null : JSON.stringify(leftBehind)],
    ...[settlement.durationMs ?? null, claim.attempt],
  );
  if (output.kept !== null && output.bytes > 0)
    db.run(sql.insertOutput, claim.attempt, output.kept, output.keptStderr ?? null);
}
