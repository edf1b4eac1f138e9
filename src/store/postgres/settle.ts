import type { ParentEnd } from '../../core/jobs/dependencies.ts';
import { attemptEndedEvent } from '../../core/rules/events.ts';
import { attemptOutcome, countsRunTime } from '../../core/rules/figures.ts';
import type { SettleAnswer, Settlement } from '../contract/claims.ts';
import { rowAfter, withoutRetry } from '../settled-rows.ts';
import { detailText } from '../steps.ts';
import { changeJobs } from './change-jobs.ts';
import { type EndedParentAt, handleParentEnds } from './dependencies.ts';
import { addHooks } from './hooks.ts';
import { recordAttemptEvent } from './record-events.ts';
import * as sql from './sql/settle.ts';
import type { Transaction } from './transaction.ts';

/** What became of a settlement. */
interface Result {
  answer: SettleAnswer;
  /** Tells whether the job is in a queue with a concurrency limit. */
  isLimited: boolean;
  /** The job, if the settlement was applied. */
  job: SettledJob | null;
}

interface SettledJob {
  number: number;
  id: string;
  queue: string;
  /** How the job ended. Null if it waits for another attempt. */
  end: ParentEnd | null;
  isWaitedFor: boolean;
  /** The settlement as it was applied. */
  settlement: Settlement;
}

interface SettleResults {
  answers: SettleAnswer[];
  /** Tells whether the queue of one of the jobs has a concurrency limit. */
  hasLimited: boolean;
  /** The number of dependencies of other jobs that the settlements have met. */
  metDependencies: number;
  /** Tells whether the settlements took more than the first statement, which is sent before this function returns its promise. */
  hasChangedMore: boolean;
}

/** Settles attempts inside a transaction. The events name `actor`, or else the workers that hold the attempts. */
export async function settleAll(
  tx: Transaction,
  settlements: Settlement[],
  actor: string | null = null,
): Promise<SettleResults> {
  const results = new Map<Settlement, Result>();
  const rounds = roundsOf(settlements);
  for (const round of rounds) await settleRound(tx, round, actor, results);
  const ordered = settlements.map((settlement) => results.get(settlement)!);
  const jobs = ordered.flatMap(({ job }) => (job === null ? [] : [job]));
  const parents = jobs.flatMap(endedParents);
  const { met } = await handleParentEnds(tx, parents);
  let hasChangedMore = rounds.length > 1 || settlements.some(isUnstarted) || parents.length > 0;
  // Hooks come last, because the queues are not idle if a settlement has unblocked a job.
  if (await addHooks(tx, jobs.filter(hasStarted))) hasChangedMore = true;
  return {
    answers: ordered.map((result) => result.answer),
    hasLimited: ordered.some((result) => result.isLimited),
    ...{ metDependencies: met, hasChangedMore },
  };
}

/** Returns the job if other jobs may have waited for its end, or else nothing. */
const endedParents = ({ number, id, end, isWaitedFor, settlement }: SettledJob): EndedParentAt[] =>
  end !== null && isWaitedFor ? [{ number, id, end, at: settlement.finishedAt }] : [];
const isUnstarted = ({ why }: Settlement): boolean => why === 'never-started';
const hasStarted = ({ settlement }: SettledJob): boolean => !isUnstarted(settlement);

/** Splits settlements into groups with at most one settlement of each job. */
function roundsOf(settlements: Settlement[]): Settlement[][] {
  const rounds: Settlement[][] = [];
  const seen = new Map<number, number>();
  for (const settlement of settlements) {
    const round = seen.get(settlement.claim.job) ?? 0;
    seen.set(settlement.claim.job, round + 1);
    rounds[round] ??= [];
    rounds[round].push(settlement);
  }
  return rounds;
}

async function settleRound(
  tx: Transaction,
  round: Settlement[],
  actor: string | null,
  results: Map<Settlement, Result>,
): Promise<void> {
  const started = round.filter((settlement) => !isUnstarted(settlement));
  for (const [settlement, result] of await settleStarted(tx, started, actor)) results.set(settlement, result);
  for (const settlement of round.filter(isUnstarted))
    results.set(settlement, await undoAttempt(tx, settlement, actor));
}

interface SettledRow {
  ordinal: number;
  if_cancelled: number | null;
  number: number;
  id: string;
  state: string;
  phase: string;
  waited_for: number;
  queue: string;
  is_limited: number;
  attempt: number;
  has_spare_parts: number;
}

async function settleStarted(
  tx: Transaction,
  settlements: Settlement[],
  actor: string | null,
): Promise<Map<Settlement, Result>> {
  const results = new Map<Settlement, Result>();
  if (settlements.length === 0) return results;
  const given = settlements.flatMap(givenRows);
  const kept = settlements.filter(({ output }) => output.kept !== null && output.bytes > 0);
  const rows = await tx.all<SettledRow>(
    sql.settleJobs,
    JSON.stringify(given),
    ...[kept.map((one) => one.claim.attempt), kept.map((one) => one.output.kept)],
    ...[kept.map((one) => one.output.keptStderr ?? null), tx.now(), actor],
  );
  for (const row of rows) {
    const settlement = settlements[row.ordinal]!;
    const { number, id, queue } = row;
    const job: SettledJob = {
      ...{ number, id, queue, isWaitedFor: row.waited_for === 1 },
      end: row.phase === 'ended' ? (row.state as ParentEnd) : null,
      settlement: row.if_cancelled === 1 ? withoutRetry(settlement) : settlement,
    };
    results.set(settlement, { answer: 'applied', isLimited: row.is_limited === 1, job });
  }
  const spare = rows.filter((row) => row.has_spare_parts === 1);
  if (spare.length > 0)
    await tx.run(
      sql.deleteParts,
      spare.map((row) => row.attempt),
    );
  const others = settlements.filter((settlement) => !results.has(settlement));
  for (const [settlement, result] of await explainRefusals(tx, others)) results.set(settlement, result);
  return results;
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

/** Finds out whether settlements that were not applied had been applied before. */
async function explainRefusals(tx: Transaction, refused: Settlement[]): Promise<Map<Settlement, Result>> {
  const results = new Map<Settlement, Result>();
  if (refused.length === 0) return results;
  const rows = await tx.all(
    sql.settledAttempts,
    refused.map((one) => one.claim.attempt),
  );
  const byNumber = new Map(rows.map((row) => [row.number as number, row]));
  for (const settlement of refused) {
    const { claim, why, exitCode } = settlement;
    const row = byNumber.get(claim.attempt);
    const isMine = row?.token === claim.token && row.why === why && row.exit_code === exitCode;
    const answer = isMine ? 'already-mine' : 'lost';
    results.set(settlement, { answer, isLimited: row?.is_limited === 1, job: null });
  }
  return results;
}

/** Removes an attempt whose command never started, so that it is not listed among the attempts of the job. */
async function undoAttempt(tx: Transaction, settlement: Settlement, actor: string | null): Promise<Result> {
  const { claim, finishedAt } = settlement;
  const locked = await tx.get(sql.lockClaim, claim.job, claim.token, claim.attempt);
  if (locked === undefined) {
    const before = await tx.get(sql.anyUndoneAttempt, claim.job, claim.token, claim.attempt);
    return { answer: before === undefined ? 'lost' : 'already-mine', isLimited: false, job: null };
  }
  const isCancelled = locked.end_reason === 'cancelled';
  const [[changed]] = await Promise.all([
    isCancelled
      ? changeJobs(tx, sql.cancelUnstarted, { kind: 'cancelled' }, finishedAt, claim.job)
      : changeJobs(tx, sql.undoAttempt, null, finishedAt, claim.job),
    isCancelled || recordAttemptEvent(tx, attemptEndedEvent(settlement), claim.attempt, actor),
    tx.run(sql.deleteAttempt, claim.attempt),
  ]);
  const job: SettledJob = {
    ...{ number: claim.job, id: changed!.id, queue: locked.queue as string, isWaitedFor: true },
    ...{ end: isCancelled ? ('cancelled' as const) : null, settlement },
  };
  return { answer: 'applied', isLimited: locked.is_limited === 1, job };
}
