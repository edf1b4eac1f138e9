import { QueueError } from '../../core/errors.ts';
import type { Claim, ClaimedJob, EndReason } from '../../core/jobs/job.ts';
import { attemptEndingEvent } from '../../core/rules/events.ts';
import type { ClaimRequest, ClaimResult, ClaimStore } from '../contract/claims.ts';
import { settleAll } from '../parts/settle.ts';
import { toClaimedJob } from '../rows.ts';
import { RUNNING_LIMIT_KEY, toRunningLimit } from '../settings.ts';
import type { Engine } from '../steps.ts';
import { refuseUnreadable } from '../tables.ts';
import { readAgenda, readWishes } from './agenda.ts';
import { chooseJobs } from './choose-jobs.ts';
import type { Connection } from './connection.ts';
import { runSteps } from './engine.ts';
import { isBadRow } from './failures.ts';
import { recordAttemptEvent, recordJobEvent } from './record-events.ts';
import * as sql from './sql/claims.ts';

const WITH_BALLAST = { usesBallast: true };
const WAS_BUSY: ClaimResult = {
  settled: [],
  jobs: [],
  mayHaveMadeRoom: false,
  hasUnblocked: false,
  wasBusy: true,
};

export function claimStore(db: Connection, engine: Engine): Omit<ClaimStore, 'batching'> {
  return {
    async claim(request, now) {
      const options = { usesBallast: request.settlements.length > 0, ifFree: request.ifFree ?? false };
      // The ballast is for the results of running jobs, so no job is claimed with the space that it frees.
      const asked = (isBallastFreed: boolean) =>
        isBallastFreed ? { ...request, limit: 0, ahead: 0 } : request;
      try {
        return await db.write('claim', (isFreed) => claim(db, engine, asked(isFreed), now, takeJob), options);
      } catch (error) {
        if (options.ifFree && error instanceof QueueError && error.code === 'store-busy') return WAS_BUSY;
        if (!isBadRow(error)) throw error;
        return db.write('claim', (isFreed) => claim(db, engine, asked(isFreed), now, takeOrHoldJob), options);
      }
    },
    agenda: (workerId, queues, now) => db.read(() => readAgenda(db, workerId, queues, now)),
    busyQueues: (now, queues = null) =>
      db.read(() => {
        const rows =
          queues === null
            ? db.all(sql.busyQueues, now)
            : db.all(sql.busyNamedQueues, JSON.stringify(queues), now);
        return rows.map((row) => row.name as string);
      }),
    settle: (settlement) =>
      db.write('settle', () => runSteps(db, settleAll(engine, [settlement])).answers[0]!, WITH_BALLAST),
    setEndReason: (claim, reason) =>
      db.write('setEndReason', () => setEndReason(db, claim, reason), WITH_BALLAST),
    adopt: (claim, workerId) =>
      db.write('adopt', () => {
        if (db.run(sql.adoptJob, workerId, claim.job, claim.token) === 0) return null;
        db.run(sql.adoptAttempt, workerId, claim.attempt);
        recordAttemptEvent(db, { kind: 'adopted' }, claim.attempt);
        return toClaimedJob(db.get(sql.claimedJob, claim.job)!);
      }),
    runningJobs: () => db.read(() => db.all(sql.runningJobs).map(toClaimedJob)),
    mine: (workerId) => db.read(() => db.all(sql.jobsOfWorker, workerId).map(toClaimedJob)),
    wishes: (workerId) => db.read(() => readWishes(db, workerId)),
    signalSent: ({ attempt, token }, signal) =>
      db.write('signalSent', () => void db.run(sql.clearSignal, attempt, token, signal)),
  };
}

function setEndReason(db: Connection, { attempt, token }: Claim, reason: EndReason): boolean {
  const before = db.get(sql.endReason, attempt)?.end_reason ?? null;
  if (db.run(sql.markAttempt, reason, attempt, token) === 0) return false;
  if (before === null) recordAttemptEvent(db, attemptEndingEvent(reason), attempt);
  return true;
}

/** Starts an attempt of a job. Returns null if the job was held instead, or if it may not be claimed ahead. */
type TakeJob = (db: Connection, job: ChosenJob, workerId: string, now: number) => ClaimedJob | null;

interface ChosenJob {
  number: number;
  /** Tells whether the job would have to wait for a slot. */
  isAhead: boolean;
}

function claim(
  db: Connection,
  engine: Engine,
  request: ClaimRequest,
  now: number,
  takeOne: TakeJob,
): ClaimResult {
  const results = runSteps(db, settleAll(engine, request.settlements, request.workerId));
  const settled = results.answers;
  const hasUnblocked = results.metDependencies > 0;
  // The setting is read in every claim, so that it holds for every worker as soon as it is set.
  const most = toRunningLimit(db.get(sql.settingValue, RUNNING_LIMIT_KEY)?.value);
  const room = remainingRoom(db, most);
  const limit = Math.min(request.limit, room);
  const mayHaveMadeRoom = most !== null || results.hasLimited;
  const ahead = most === null ? (request.ahead ?? 0) : 0;
  if (limit + ahead <= 0) return { settled, jobs: [], mayHaveMadeRoom, hasUnblocked };
  const jobs: ClaimedJob[] = [];
  const { numbers, leftRoomFor } = chooseJobs(db, { ...request, limit, ahead, room }, now);
  for (const [i, number] of numbers.entries()) {
    const isAhead = i >= limit;
    const job = takeOne(db, { number, isAhead }, request.workerId, now);
    if (job !== null) jobs.push(job);
    // The jobs after one that must wait for a slot do not overtake it.
    else if (isAhead) break;
  }
  return { settled, jobs, mayHaveMadeRoom, hasUnblocked, leftRoomFor };
}

function remainingRoom(db: Connection, most: number | null): number {
  return most === null ? Number.POSITIVE_INFINITY : most - (db.get(sql.totalRunning)!.jobs as number);
}

function takeJob(
  db: Connection,
  { number, isAhead }: ChosenJob,
  workerId: string,
  now: number,
): ClaimedJob | null {
  const values = [workerId, now, now, number];
  const attempt = isAhead
    ? (db.get(sql.insertAttemptAhead, ...values)?.number as number | undefined)
    : db.insert(sql.insertAttempt, ...values);
  if (attempt === undefined) return null;
  db.run(sql.takeJob, attempt, workerId, now, now, number);
  recordAttemptEvent(db, { kind: 'started' }, attempt);
  const row = db.get(sql.claimedJob, number)!;
  refuseUnreadable(row);
  return toClaimedJob(row);
}

/** Takes a job, or holds it if its row cannot be read. Otherwise that job would keep every worker from claiming any job. */
function takeOrHoldJob(db: Connection, chosen: ChosenJob, workerId: string, now: number): ClaimedJob | null {
  const { number } = chosen;
  db.exec('SAVEPOINT take');
  let job: ClaimedJob | null = null;
  try {
    job = takeJob(db, chosen, workerId, now);
  } catch (error) {
    if (!isBadRow(error)) throw error;
    db.exec('ROLLBACK TO take');
    db.run(sql.holdBadJob, now, `cannot be started: ${(error as Error).message}`, number);
    recordJobEvent(db, { kind: 'held' }, db.get(sql.idOfJob, number)!.id as string);
  }
  // Other errors skip this: SQLite may have rolled back everything, and a second error would hide the first.
  db.exec('RELEASE take');
  return job;
}
