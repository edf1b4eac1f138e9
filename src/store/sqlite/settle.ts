import { QueueError } from '../../core/errors.ts';
import { HOOK_QUEUE } from '../../core/jobs/hooks.ts';
import type { JobSpec } from '../../core/jobs/job.ts';
import { attemptEndedEvent } from '../../core/rules/events.ts';
import type { SettleAnswer, Settlement } from '../contract/claims.ts';
import type { Row } from '../row.ts';
import { rowAfter, withoutRetry } from '../settled-rows.ts';
import type { Connection } from './connection.ts';
import { type EndedParent, handleParentEnd } from './dependencies.ts';
import { insert } from './insert.ts';
import { recordAttemptEvent, recordJobEvent } from './record-events.ts';
import { type AttemptTally, newAttemptTally } from './rollups.ts';
import * as sql from './sql/claims.ts';
import { anyDependent, cancelJob } from './sql/dependencies.ts';
import { newTally } from './tally.ts';

interface SettleResult {
  answer: SettleAnswer;
  /** The number of dependencies of other jobs that the settlement has met. */
  metDependencies: number;
  /** Tells whether the queue of the job has a concurrency limit. */
  hasLimitedQueue: boolean;
}

/** Settles an attempt inside a transaction. The event names the worker that holds the attempt. */
export function settle(db: Connection, settlement: Settlement): SettleResult {
  return settleAll(db, [settlement], null)[0]!;
}

/** Settles attempts inside a transaction. The events name `actor`, or else the worker that holds the attempt. */
export function settleAll(db: Connection, settlements: Settlement[], actor: string | null): SettleResult[] {
  const figures = newAttemptTally(db);
  const results = settlements.map((settlement) => settleOne(db, settlement, actor, figures));
  figures.write();
  return results;
}

function settleOne(
  db: Connection,
  given: Settlement,
  actor: string | null,
  figures: AttemptTally,
): SettleResult {
  const attempt = db.get(sql.endingAttempt, given.claim.attempt);
  const hasLimitedQueue = (attempt?.concurrency ?? null) !== null;
  const isCancelled = attempt?.end_reason === 'cancelled';
  const settlement = isCancelled ? withoutRetry(given) : given;
  const wasStarted = given.why !== 'never-started';
  const answer = wasStarted
    ? settleAttempt(db, settlement, attempt, actor, figures)
    : undoAttempt(db, given, isCancelled, actor);
  if (answer !== 'applied') return { answer, metDependencies: 0, hasLimitedQueue };
  const metDependencies = updateDependents(db, settlement);
  // Hooks come last, because the queues are not idle if the settlement has unblocked a job.
  if (wasStarted) addHooks(db, settlement);
  return { answer, metDependencies, hasLimitedQueue };
}

/** If the job has ended, unblocks, holds or cancels the jobs that depend on it. Returns how many dependencies were met. */
function updateDependents(db: Connection, { claim, finishedAt }: Settlement): number {
  // Most jobs have no dependents, so their end costs only this lookup.
  if (db.get(anyDependent, claim.job) === undefined) return 0;
  const ended = db.get<EndedParent>(sql.endedJob, claim.job);
  return ended === undefined ? 0 : handleParentEnd(db, ended, finishedAt).met;
}

/** Removes an attempt whose command never started, so that it is not listed among the attempts of the job. */
function undoAttempt(
  db: Connection,
  settlement: Settlement,
  isCancelled: boolean,
  actor: string | null,
): SettleAnswer {
  const { claim, finishedAt } = settlement;
  if (db.run(sql.undoAttempt, finishedAt, finishedAt, claim.job, claim.token) === 0) {
    const before = db.get(sql.anyUndoneAttempt, claim.job, claim.token, claim.attempt);
    return before === undefined ? 'lost' : 'already-mine';
  }
  if (isCancelled) {
    db.run(cancelJob, finishedAt, finishedAt, 'cancelled before it ran', claim.job);
    recordJobEvent(db, { kind: 'cancelled' }, db.get(sql.claimedJob, claim.job)!.id as string);
    const figures = newTally(db);
    figures.countDropped(claim.job);
    figures.write(finishedAt);
  } else recordAttemptEvent(db, attemptEndedEvent(settlement), claim.attempt, actor);
  db.run(sql.deleteAttempt, claim.attempt);
  return 'applied';
}

function settleAttempt(
  db: Connection,
  settlement: Settlement,
  attempt: Row | undefined,
  actor: string | null,
  figures: AttemptTally,
): SettleAnswer {
  const { claim, transition, exitCode, output } = settlement;
  const row = rowAfter(transition, settlement.finishedAt);
  const applied = db.run(
    sql.settleJob,
    ...[row.state, row.phase, transition.attempts, transition.crashes, row.dueAt, row.finishedAt],
    ...[settlement.finishedAt, exitCode, settlement.error, settlement.durationMs ?? null],
    ...[settlement.finishedAt, output.remainingBytes ?? output.bytes, claim.job, claim.token],
  );
  if (applied === 1) {
    updateAttempt(db, settlement);
    recordAttemptEvent(db, attemptEndedEvent(settlement), claim.attempt, actor);
    // The attempt is missing if a repair saved only the job.
    if (attempt !== undefined) figures.add(attempt, settlement);
    return 'applied';
  }
  const before = db.get(sql.settledAttempt, claim.attempt, claim.token);
  return before?.why === settlement.why && before.exit_code === exitCode ? 'already-mine' : 'lost';
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

/** Adds the hook jobs in the transaction of the settlement, so that a crash neither loses nor repeats a hook. */
function addHooks(db: Connection, { hooks, onIdle, claim, finishedAt }: Settlement): void {
  for (const hook of hooks) addHook(db, hook, claim.attempt, finishedAt);
  if (onIdle !== null && isIdle(db, finishedAt)) addHook(db, onIdle, claim.attempt, finishedAt);
}

/** Adds a hook job. If two workers generated the same id, the attempt number makes it unique. */
function addHook(db: Connection, hook: JobSpec, attempt: number, now: number): void {
  try {
    insert(db, [hook], now);
  } catch (error) {
    if (!(error instanceof QueueError && error.code === 'job-exists')) throw error;
    insert(db, [{ ...hook, id: `${hook.id}-${attempt}` }], now);
  }
}

function isIdle(db: Connection, now: number): boolean {
  return db.get(sql.anyBusyQueueExcept, now, HOOK_QUEUE) === undefined;
}
