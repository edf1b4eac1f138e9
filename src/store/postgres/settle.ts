import { attemptEndedEvent } from '../../core/rules/events.ts';
import { attemptOutcome, countsRunTime } from '../../core/rules/figures.ts';
import type { Settlement } from '../contract/claims.ts';
import { rowAfter, withoutRetry } from '../parts/settle.ts';
import { all, detailText, type Engine, run, type SettledRow, type Steps } from '../steps.ts';
import * as sql from './sql/settle.ts';

/** Settles attempts of different jobs in one statement. */
export function* settleJobs(
  { now }: Pick<Engine, 'now'>,
  settlements: Settlement[],
  actor: string | null,
): Steps<SettledRow[]> {
  const kept = settlements.filter(({ output }) => output.kept !== null && output.bytes > 0);
  const rows = yield* all<SettledRow & { attempt: number; has_spare_parts: number }>(
    sql.settleJobs,
    JSON.stringify(settlements.flatMap(givenRows)),
    ...[kept.map((one) => one.claim.attempt), kept.map((one) => one.output.kept)],
    ...[kept.map((one) => one.output.keptStderr ?? null), now(), actor],
  );
  const spare = rows.filter((row) => row.has_spare_parts === 1).map((row) => row.attempt);
  if (spare.length > 0) yield* run(sql.deleteParts, spare);
  return rows;
}

/**
 * Returns what the statement needs to know of a settlement. If a cancel of the attempt would change the settlement, there are two
 * rows. Only the row whose `if_cancelled` is right is used.
 */
function givenRows(settlement: Settlement, ordinal: number) {
  const cancelled = withoutRetry(settlement);
  if (cancelled === settlement) return [givenRow(settlement, ordinal, null)];
  return [givenRow(settlement, ordinal, false), givenRow(cancelled, ordinal, true)];
}

function givenRow(settlement: Settlement, ordinal: number, ifCancelled: boolean | null) {
  const { claim, transition, why, output, leftBehind, finishedAt, durationMs } = settlement;
  const { state, phase, dueAt, finishedAt: endedAt } = rowAfter(transition, finishedAt);
  const { kind, detail } = attemptEndedEvent(settlement);
  const figure = attemptOutcome(transition.to, why);
  return {
    ...{ ordinal, if_cancelled: ifCancelled, ...claim, state, phase, due_at: dueAt, ended_at: endedAt },
    ...{ attempts: transition.attempts, crashes: transition.crashes, at: finishedAt, why },
    ...{ exit_code: settlement.exitCode, error: settlement.error, duration_ms: durationMs ?? null },
    ...{ output_bytes: output.bytes, remaining_bytes: output.remainingBytes ?? output.bytes },
    truncated: output.truncated ? 1 : 0,
    left_behind: leftBehind.length === 0 ? null : JSON.stringify(leftBehind),
    ...{ kind, detail: detailText(detail), figure, counts_run_time: countsRunTime(figure, why) },
  };
}
