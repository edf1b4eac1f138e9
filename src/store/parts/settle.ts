import type { ParentEnd } from '../../core/jobs/dependencies.ts';
import { HOOK_QUEUE } from '../../core/jobs/hooks.ts';
import type { JobSpec } from '../../core/jobs/job.ts';
import type { Transition } from '../../core/rules/decide.ts';
import { attemptEndedEvent } from '../../core/rules/events.ts';
import type { SettleLost } from '../contract/care.ts';
import type { SettleAnswer, Settlement } from '../contract/claims.ts';
import type { Row } from '../row.ts';
import { toClaimedJob } from '../rows.ts';
import {
  all,
  type Engine,
  get,
  recordAttemptEvent,
  run,
  type Steps,
  statementsOf,
  together,
} from '../steps.ts';
import { type EndedParent, handleParentEnds } from './dependencies.ts';
import { insert } from './insert.ts';
import { UNIQUE_SLOT_OF_ENDED } from './jobs.ts';

/** The result of a settlement. */
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
  /** Tells whether the settlements took more than the first statement, which is sent before anything is awaited. */
  hasChangedMore: boolean;
}

export const settleStatements = statementsOf((dialect) => {
  const { isBusy, isOneOf, json, jobChange, forChange, lockClaimed } = dialect;
  const before = (column: string): string => `CAST(${json('job_before')} ->> '${column}' AS bigint)`;
  const LOST_SLOT = `${json('job_before')} ->> 'lost_slot'`;
  const OF_ATTEMPT = 'FROM attempt WHERE attempt.number = job.attempt';
  /** The job gets back what its claim has changed. */
  const WITHOUT_ATTEMPT = `runs = runs - 1, updated_at = $5, worker_id = NULL,
    (attempt, started_at, duration_ms) = (SELECT ${before('attempt')}, ${before('started_at')}, ${before('duration_ms')} ${OF_ATTEMPT})`;
  return {
    /** Finds attempts that were settled before. */
    settledAttempts: `SELECT attempt.number, attempt.token, why, attempt.exit_code, queue.concurrency IS NOT NULL AS is_limited
      FROM attempt JOIN job ON job.number = attempt.job JOIN queue ON queue.number = job.queue
      WHERE ${isOneOf('attempt.number', '$1')} AND attempt.finished_at IS NOT NULL`,
    /** Locks a running job and its attempt before the attempt is undone. */
    lockClaim: `SELECT end_reason, queue.name AS queue, queue.concurrency IS NOT NULL AS is_limited
      FROM job JOIN attempt ON attempt.number = $3 JOIN queue ON queue.number = job.queue
      WHERE job.number = $1 AND job.token = $2 AND job.attempt = $3 AND job.worker_id IS NOT NULL${lockClaimed}`,
    /** The job also gets back its state, the time since when it waits, and its unique key, unless another job has that key now. */
    undoAttempt: jobChange({
      where: 'number = $6',
      set: `phase = 'ready', ${WITHOUT_ATTEMPT},
        (state, due_at, unique_slot) = (SELECT coalesce(${json('job_before')} ->> 'state', 'pending'),
          coalesce(${before('due_at')}, CASE WHEN attempt.started_at - wait_ms < $5 THEN attempt.started_at - wait_ms ELSE $5 END),
          CASE WHEN EXISTS (SELECT 1 FROM job AS other WHERE other.unique_slot = ${LOST_SLOT}) THEN NULL
            ELSE coalesce(job.unique_slot, ${LOST_SLOT}) END ${OF_ATTEMPT})`,
    }),
    /** Cancels a job whose attempt never started, and removes that attempt from the job. */
    cancelUnstarted: jobChange({
      where: 'number = $6',
      set: `state = 'cancelled', phase = 'ended', finished_at = $5, last_error = 'cancelled before it ran',
        unique_slot = ${UNIQUE_SLOT_OF_ENDED}, ${WITHOUT_ATTEMPT}`,
      isDrop: true,
    }),
    deleteAttempt: 'DELETE FROM attempt WHERE number = $1',
    anyUndoneAttempt: `SELECT 1 FROM job WHERE number = $1 AND token = $2
      AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.number = $3)`,
    takenIds: `SELECT id FROM job WHERE ${isOneOf('id', '$1')}`,
    anyBusyQueueExcept: `SELECT 1 FROM queue WHERE ${isBusy} AND name <> $2 LIMIT 1`,
    /**
     * Lets one transaction after the other look whether any job is left. Each looks in a new statement, so it sees the settlements of
     * those before it.
     */
    lockIdle: `SELECT 1 FROM meta WHERE key = 'store'${forChange}`,
  };
});

/** Settles attempts inside a transaction. The events name `actor`, or else the workers that hold the attempts. */
export function* settleAll(
  db: Engine,
  settlements: Settlement[],
  actor: string | null = null,
): Steps<SettleResults> {
  const results = new Map<Settlement, Result>();
  const rounds = roundsOf(settlements);
  for (const round of rounds) yield* settleRound(db, round, actor, results);
  const ordered = settlements.map((settlement) => results.get(settlement)!);
  const jobs = ordered.flatMap(({ job }) => (job === null ? [] : [job]));
  const parents = jobs.flatMap(endedParents);
  const { met } = yield* handleParentEnds(db, parents);
  let hasChangedMore = rounds.length > 1 || settlements.some(isUnstarted) || parents.length > 0;
  // Hooks come last, because the queues are not idle if a settlement has unblocked a job.
  if (yield* addHooks(db, jobs.filter(hasStarted))) hasChangedMore = true;
  return {
    answers: ordered.map((result) => result.answer),
    hasLimited: ordered.some((result) => result.isLimited),
    ...{ metDependencies: met, hasChangedMore },
  };
}

/** Settles running jobs whose processes are gone, or belong to another store. */
export function* settleAsLost(db: Engine, jobs: Row[], settleLost: SettleLost): Steps<void> {
  yield* settleAll(
    db,
    jobs.map((row) => settleLost(toClaimedJob(row))),
  );
}

/** Returns the job if other jobs may have waited for its end, or else nothing. */
const endedParents = ({ number, id, end, isWaitedFor, settlement }: SettledJob): EndedParent[] =>
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

function* settleRound(
  db: Engine,
  round: Settlement[],
  actor: string | null,
  results: Map<Settlement, Result>,
): Steps<void> {
  const started = round.filter((settlement) => !isUnstarted(settlement));
  if (started.length > 0) yield* settleStarted(db, started, actor, results);
  for (const settlement of round.filter(isUnstarted))
    results.set(settlement, yield* undoAttempt(db, settlement, actor));
}

function* settleStarted(
  db: Engine,
  settlements: Settlement[],
  actor: string | null,
  results: Map<Settlement, Result>,
): Steps<void> {
  for (const row of yield* db.settleJobs(settlements, actor)) {
    const settlement = settlements[row.ordinal]!;
    const { number, id, queue } = row;
    const job: SettledJob = {
      ...{ number, id, queue, isWaitedFor: row.waited_for === 1 },
      end: row.phase === 'ended' ? (row.state as ParentEnd) : null,
      settlement: row.if_cancelled === 1 ? withoutRetry(settlement) : settlement,
    };
    results.set(settlement, { answer: 'applied', isLimited: row.is_limited === 1, job });
  }
  const refused = settlements.filter((settlement) => !results.has(settlement));
  if (refused.length > 0) yield* explainRefusals(db, refused, results);
}

/** Finds out whether settlements that were not applied had been applied before. */
function* explainRefusals(
  { dialect }: Engine,
  refused: Settlement[],
  results: Map<Settlement, Result>,
): Steps<void> {
  const rows = yield* all(
    settleStatements(dialect).settledAttempts,
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
}

/** Removes an attempt whose command never started, so that it is not listed among the attempts of the job. */
function* undoAttempt(db: Engine, settlement: Settlement, actor: string | null): Steps<Result> {
  const sql = settleStatements(db.dialect);
  const { claim, finishedAt } = settlement;
  const locked = yield* get(sql.lockClaim, claim.job, claim.token, claim.attempt);
  if (locked === undefined) {
    const before = yield* get(sql.anyUndoneAttempt, claim.job, claim.token, claim.attempt);
    return { answer: before === undefined ? 'lost' : 'already-mine', isLimited: false, job: null };
  }
  const isCancelled = locked.end_reason === 'cancelled';
  const [[changed]] = isCancelled
    ? yield* together(
        db.changeJobs(sql.cancelUnstarted, { kind: 'cancelled' }, finishedAt, claim.job),
        run(sql.deleteAttempt, claim.attempt),
      )
    : yield* together(
        db.changeJobs(sql.undoAttempt, null, finishedAt, claim.job),
        recordAttemptEvent(db, attemptEndedEvent(settlement), claim.attempt, actor),
        run(sql.deleteAttempt, claim.attempt),
      );
  const job: SettledJob = {
    ...{ number: claim.job, id: changed!.id, queue: locked.queue as string, isWaitedFor: true },
    ...{ end: isCancelled ? ('cancelled' as const) : null, settlement },
  };
  return { answer: 'applied', isLimited: locked.is_limited === 1, job };
}

/**
 * Adds the hook jobs of settlements that were applied, in their transaction, so that a crash neither loses nor repeats a hook.
 * Returns whether it has added any.
 */
function* addHooks(db: Engine, jobs: SettledJob[]): Steps<boolean> {
  const withHooks = jobs.map((job) => job.settlement).filter((settlement) => settlement.hooks.length > 0);
  for (const settlement of withHooks) yield* addHookJobs(db, settlement.hooks, settlement);
  // A job that is settled later in the same transaction is still running when this one ends, unless it is a hook itself.
  const last = jobs.findLast((job) => job.queue !== HOOK_QUEUE)?.settlement;
  if (last === undefined || last.onIdle === null) return withHooks.length > 0;
  const sql = settleStatements(db.dialect);
  yield* get(sql.lockIdle);
  const busy = yield* get(sql.anyBusyQueueExcept, last.finishedAt, HOOK_QUEUE);
  if (busy !== undefined) return withHooks.length > 0;
  yield* addHookJobs(db, [last.onIdle], last);
  return true;
}

/** Adds hook jobs. If two workers generated the same id, the attempt number makes it unique. */
function* addHookJobs(db: Engine, hooks: JobSpec[], { claim, finishedAt }: Settlement): Steps<void> {
  const ids = hooks.map((hook) => hook.id);
  const rows = yield* all<{ id: string }>(settleStatements(db.dialect).takenIds, ids);
  const taken = new Set(rows.map((row) => row.id));
  const renamed = hooks.map((hook) =>
    taken.has(hook.id) ? { ...hook, id: `${hook.id}-${claim.attempt}` } : hook,
  );
  yield* insert(db, renamed, finishedAt);
}

/** Returns the new values of the row of a job whose attempt is settled. */
export function rowAfter(transition: Transition, at: number) {
  switch (transition.to) {
    case 'completed':
    case 'dead':
    case 'cancelled':
      return { state: transition.to, phase: 'ended', dueAt: null, finishedAt: at };
    case 'failed':
      return { state: 'failed', phase: 'waiting', dueAt: transition.nextRunAt, finishedAt: null };
    case 'released':
      return { state: 'pending', phase: 'ready', dueAt: at, finishedAt: null };
  }
}

/** Returns the settlement of an attempt that a user cancelled: the job is cancelled instead of retried. */
export function withoutRetry(settlement: Settlement): Settlement {
  const { to, attempts, crashes } = settlement.transition;
  // A stop makes an at-most-once job dead. If somebody cancelled it, it is cancelled instead.
  const isStopped = to === 'dead' && settlement.why === 'stopped';
  if (to !== 'failed' && to !== 'released' && !isStopped) return settlement;
  return { ...settlement, transition: { to: 'cancelled', attempts, crashes }, hooks: [] };
}
