import { attemptEndedEvent } from '../../core/rules/events.ts';
import { attemptOutcome, countsRunTime } from '../../core/rules/figures.ts';
import type { Settlement } from '../contract/claims.ts';
import { rowAfter, withoutRetry } from '../parts/settle.ts';
import type { Row } from '../row.ts';
import { detailText, type SettledRow } from '../steps.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/claims.ts';
import { logEnd } from './sql/log.ts';

/** Settles attempts, and returns the jobs of those whose claims still held. */
export function settleJobs(db: Connection, settlements: Settlement[], actor: string | null): SettledRow[] {
  const rows: SettledRow[] = [];
  for (const [ordinal, settlement] of settlements.entries()) {
    const row = settleJob(db, settlement, actor);
    if (row !== null) rows.push({ ordinal, ...row });
  }
  return rows;
}

type EndingJob = Pick<SettledRow, 'number' | 'id' | 'is_limited'> & { queue_name: string };

function settleJob(
  db: Connection,
  given: Settlement,
  actor: string | null,
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
  logSettled(db, settlement, ending, actor);
  const { number, id, is_limited, queue_name } = ending as unknown as EndingJob;
  return {
    ...{ number, id, queue: queue_name, is_limited, state, phase },
    if_cancelled: settlement === given ? 0 : 1,
    // Most jobs have no dependents, so their end costs only this lookup.
    waited_for: phase === 'ended' && db.get(sql.anyDependent, number) !== undefined ? 1 : 0,
  };
}

/** Logs the end of an attempt. It has no figures if the attempt is missing, because a repair saved only the job. */
function logSettled(db: Connection, settlement: Settlement, ending: Row, actor: string | null): void {
  const { claim, transition, why, finishedAt, durationMs, output } = settlement;
  const { kind, detail } = attemptEndedEvent(settlement);
  const figure = attemptOutcome(transition.to, why);
  const startedAt = Number(ending.started_at);
  const at = Math.max(startedAt, finishedAt);
  db.run(
    logEnd,
    ...[db.now(), kind, actor, detailText(detail), output.remainingBytes ?? output.bytes],
    ...[ending.started_at === null ? null : figure, at, ending.ordinal === 1 ? ending.wait_ms! : null],
    ...[countsRunTime(figure, why) ? (durationMs ?? at - startedAt) : null, claim.attempt, claim.job],
  );
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
