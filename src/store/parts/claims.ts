import { QueueError } from '../../core/errors.ts';
import type { Claim, ClaimedJob, EndReason } from '../../core/jobs/job.ts';
import { attemptEndingEvent } from '../../core/rules/events.ts';
import type { ClaimRequest, ClaimResult, ClaimStore, SettleAnswer } from '../contract/claims.ts';
import type { Row } from '../row.ts';
import { toClaimedJob, toWish } from '../rows.ts';
import { RUNNING_LIMIT_KEY, toRunningLimit } from '../settings.ts';
import {
  all,
  type Engine,
  get,
  nothing,
  recordAttemptEvent,
  run,
  type Steps,
  statementsOf,
  together,
} from '../steps.ts';
import { refuseUnreadable } from '../tables.ts';
import { settleAll } from './settle.ts';

export const claimStatements = statementsOf(
  ({ countRunning, isAdoptable, isBusy, isOneOf, jobChange, selectClaimed }) => ({
    /** Returns the value of max-concurrent-jobs, if it is set, and the number of running jobs. */
    runningLimit: `SELECT value, (${countRunning}) AS running FROM setting WHERE key = $1`,
    /** Holds a job, and sets the columns that a CHECK compares with its phase. */
    holdUnreadable: jobChange({
      where: "number = $6 AND phase = 'ready'",
      set: `phase = 'held', state = CASE WHEN state = 'failed' THEN state ELSE 'pending' END, worker_id = NULL, finished_at = NULL,
      due_at = coalesce(due_at, $5), last_error = $7`,
    }),
    busyQueues: `SELECT name FROM queue WHERE ${isBusy}`,
    busyNamedQueues: `SELECT name FROM queue WHERE ${isOneOf('name', '$2')} AND ${isBusy}`,
    markAttempt: `UPDATE attempt SET end_reason = $1
    WHERE number = $2 AND token = $3 AND finished_at IS NULL AND end_reason IS NULL`, // fault-control: mark-token
    markedAttempt: 'SELECT 1 FROM attempt WHERE number = $1 AND token = $2 AND finished_at IS NULL',
    adoptJob: `UPDATE job SET token = token + 1, worker_id = $1
    WHERE number = $2 AND token = $3 AND worker_id IS NOT NULL${isAdoptable}`, // fault-control: adopt-token
    adoptAttempt: 'UPDATE attempt SET token = token + 1, worker_id = $1 WHERE number = $2', // fault-control: adopt-attempt-token
    claimedJob: `${selectClaimed('$2', '$3')} WHERE job.number = $1`,
    runningJobs: `${selectClaimed('$1', '$2')} WHERE phase = 'running'`,
    jobsOfWorker: `${selectClaimed('$2', '$3')} WHERE phase = 'running' AND job.worker_id = $1`,
    wishes: `SELECT * FROM (SELECT number, token, attempt, (SELECT end_reason FROM attempt WHERE attempt.number = job.attempt) AS end_reason,
      (SELECT signal FROM attempt WHERE attempt.number = job.attempt) AS signal
    FROM job WHERE phase = 'running' AND worker_id = $1) AS running WHERE coalesce(end_reason, signal) IS NOT NULL`,
    clearSignal: `UPDATE attempt SET signal = NULL
    WHERE number = $1 AND token = $2 AND signal = $3 AND end_reason IS NULL AND finished_at IS NULL`,
  }),
);

const WAS_BUSY: ClaimResult = {
  settled: [],
  jobs: [],
  mayHaveMadeRoom: false,
  hasUnblocked: false,
  wasBusy: true,
};

export function claimPart(db: Engine): Omit<ClaimStore, 'batching'> {
  const sql = claimStatements(db.dialect);
  return {
    claim: (request, now) => claimReadable(db, request, now),
    agenda: (workerId, queues, now) => db.agenda(workerId, queues, now),
    async busyQueues(now, queues = null) {
      const read = () => (queues === null ? all(sql.busyQueues, now) : all(sql.busyNamedQueues, now, queues));
      return (await db.glance(read)).map((row) => row.name as string);
    },
    settle: (settlement) =>
      db.write(
        'settle',
        function* (): Steps<SettleAnswer> {
          return (yield* settleAll(db, [settlement])).answers[0]!;
        },
        { usesBallast: true, repeatsAfter: 'settlement' },
      ),
    setEndReason: (claim, reason) =>
      db.write('setEndReason', () => setEndReason(db, claim, reason), { usesBallast: true }),
    adopt: (claim, workerId) => db.write('adopt', () => adopt(db, claim, workerId)),
    runningJobs: async () => (await db.glance(() => all(sql.runningJobs, ...db.host()))).map(toClaimedJob),
    async mine(workerId) {
      await db.untilCertain();
      return (await db.glance(() => all(sql.jobsOfWorker, workerId, ...db.host()))).map(toClaimedJob);
    },
    wishes: async (workerId) => (await db.glance(() => all(sql.wishes, workerId))).map(toWish),
    async signalSent({ attempt, token }, signal) {
      await db.write('signalSent', () => run(sql.clearSignal, attempt, token, signal));
    },
  };
}

/** Claims jobs. If some of them cannot be started, claims nothing, and tries again without these. */
async function claimReadable(db: Engine, request: ClaimRequest, now: number): Promise<ClaimResult> {
  const unreadable = new Map<number, string>();
  const { ifFree = false, settlements } = request;
  const options = { usesBallast: settlements.length > 0, ifFree, repeatsAfter: 'settlement' } as const;
  const work = function* (isBallastFreed: boolean): Steps<ClaimResult> {
    yield* holdUnreadable(db, unreadable, now);
    // The ballast is for the results of running jobs, so no job is claimed with the space that it frees.
    return yield* claim(db, isBallastFreed ? { ...request, limit: 0, ahead: 0 } : request, now);
  };
  for (;;) {
    try {
      return await db.write('claim', work, options);
    } catch (error) {
      if (ifFree && error instanceof QueueError && error.code === 'store-busy') return WAS_BUSY;
      if (!(error instanceof UnreadableJobs)) throw error;
      for (const [number, reason] of error.reasons) unreadable.set(number, reason);
    }
  }
}

/** The limits and the queues from which a claim takes jobs. */
export interface Room {
  /** The value of max-concurrent-jobs. Null means no limit. */
  most: number | null;
  /** The number of running jobs, if it is limited. */
  running: number;
  /** The queues with waiting jobs, if the engine reads all of them at once. */
  queues: Row[];
}

function* claim(db: Engine, request: ClaimRequest, now: number): Steps<ClaimResult> {
  // The room is read in the same round trip, after the statement that settles. It is read again if others had to follow.
  const [settled, firstRoom] = yield* together(
    settleAll(db, request.settlements, request.workerId),
    readRoom(db, request),
  );
  const room = settled.hasChangedMore ? yield* readRoom(db, request) : firstRoom;
  const { rows, ...left } = yield* db.takeJobs(request, room, now);
  refuseUnreadableRows(rows);
  return {
    settled: settled.answers,
    jobs: rows.map(toClaimedJob),
    ...left,
    mayHaveMadeRoom: room.most !== null || settled.hasLimited,
    hasUnblocked: settled.metDependencies > 0,
  };
}

/** Reads the limits in every claim, so that they hold for every worker as soon as they are set. */
export function* readRoom(db: Engine, { limit, ahead = 0, queues }: ClaimRequest): Steps<Room> {
  const [setting, open] = yield* together(
    get(claimStatements(db.dialect).runningLimit, RUNNING_LIMIT_KEY),
    limit + ahead > 0 ? db.openQueues(queues) : nothing([]),
  );
  return { most: toRunningLimit(setting?.value), running: Number(setting?.running ?? 0), queues: open };
}

/** How many jobs a worker can start now, and how many it may claim ahead. `room` is how many max-concurrent-jobs allows. */
export interface Slots {
  limit: number;
  ahead: number;
  room: number;
}

export function slotsIn({ limit, ahead = 0 }: ClaimRequest, { most, running }: Room): Slots {
  if (most === null) return { limit, ahead, room: Number.POSITIVE_INFINITY };
  const room = Math.max(0, most - running);
  return { limit: Math.min(limit, room), ahead: 0, room };
}

/** Is thrown by a claim that has taken jobs which cannot be started. `reasons` has the number of each. */
export class UnreadableJobs extends QueueError {
  readonly reasons: Map<number, string>;

  constructor(reasons: Map<number, string>) {
    super('store-corrupt', [...reasons.values()].join('; '));
    this.reasons = reasons;
  }
}

function refuseUnreadableRows(rows: Row[]): void {
  const reasons = new Map<number, string>();
  for (const row of rows) {
    try {
      refuseUnreadable(row);
    } catch (error) {
      reasons.set(row.number as number, (error as Error).message);
    }
  }
  if (reasons.size > 0) throw new UnreadableJobs(reasons);
}

/** Holds jobs that cannot be started. Otherwise they would keep every worker from claiming any job. */
function* holdUnreadable(db: Engine, reasons: Map<number, string>, now: number): Steps<void> {
  const sql = claimStatements(db.dialect);
  for (const [number, reason] of reasons)
    yield* db.changeJobs(sql.holdUnreadable, { kind: 'held' }, now, number, `cannot be started: ${reason}`);
}

function* setEndReason(db: Engine, { attempt, token }: Claim, reason: EndReason): Steps<boolean> {
  const sql = claimStatements(db.dialect);
  if ((yield* run(sql.markAttempt, reason, attempt, token)) === 0)
    return (yield* get(sql.markedAttempt, attempt, token)) !== undefined;
  yield* recordAttemptEvent(db, attemptEndingEvent(reason), attempt, null);
  return true;
}

function* adopt(db: Engine, claim: Claim, workerId: string): Steps<ClaimedJob | null> {
  const sql = claimStatements(db.dialect);
  const host = db.host();
  if ((yield* run(sql.adoptJob, workerId, claim.job, claim.token, ...host)) === 0) return null;
  const [, , row] = yield* together(
    run(sql.adoptAttempt, workerId, claim.attempt),
    recordAttemptEvent(db, { kind: 'adopted' }, claim.attempt, null),
    get(sql.claimedJob, claim.job, ...host),
  );
  return toClaimedJob(row!);
}
