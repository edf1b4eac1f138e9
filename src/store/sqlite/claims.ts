import { QueueError } from '../../core/errors.ts';
import { attemptEndingEvent } from '../../core/events.ts';
import type { Claim, ClaimedJob, EndReason, Seal } from '../../core/job.ts';
import type { ClaimRequest, ClaimResult, ClaimStore } from '../contract/claims.ts';
import { toClaimedJob } from '../rows.ts';
import { RUNNING_LIMIT_KEY, toRunningLimit } from '../running-limit.ts';
import { refuseUnreadable } from '../unreadable.ts';
import { readAgenda, readWishes } from './agenda.ts';
import { chooseJobs } from './choose-jobs.ts';
import type { Connection } from './connection.ts';
import { isBadRow } from './failures.ts';
import { namesOfPlacedQueues } from './placed-jobs.ts';
import { recordAttemptEvent, recordJobEvent } from './record-events.ts';
import { settle, settleAll } from './settle.ts';
import * as sql from './sql/claims.ts';
import { idOfJob } from './sql/dependencies.ts';

const WITH_BALLAST = { usesBallast: true };
const WAS_BUSY: ClaimResult = {
  settled: [],
  jobs: [],
  mayHaveMadeRoom: false,
  hasUnblocked: false,
  wasBusy: true,
};

export function claimStore(db: Connection): Omit<ClaimStore, 'batching'> {
  return {
    async claim(request, now) {
      const options = { usesBallast: request.settlements.length > 0, ifFree: request.ifFree ?? false };
      try {
        return await db.write('claim', () => claim(db, request, now, takeJob), options);
      } catch (error) {
        if (options.ifFree && error instanceof QueueError && error.code === 'store-busy') return WAS_BUSY;
        if (!isBadRow(error)) throw error;
        return db.write('claim', () => claim(db, request, now, takeOrHoldJob), options);
      }
    },
    agenda: (workerId, queues, now, offers = []) =>
      db.read(() => readAgenda(db, workerId, queues, now, offers)),
    busyQueues: (now, queues = null, offers = null) =>
      db.read(() => {
        const rows =
          queues === null
            ? db.all(sql.busyQueues, now)
            : db.all(sql.busyNamedQueues, JSON.stringify(queues), now);
        const placed = namesOfPlacedQueues(db, offers).filter((name) => queues?.includes(name) ?? true);
        return [...new Set([...rows.map((row) => row.name as string), ...placed])];
      }),
    settle: (settlement) => db.write('settle', () => settle(db, settlement).answer, WITH_BALLAST),
    mark: (claim, reason) => db.write('mark', () => mark(db, claim, reason), WITH_BALLAST),
    adopt: (claim, workerId) =>
      db.write('adopt', () => {
        if (db.run(sql.adoptJob, workerId, claim.job, claim.token) === 0) return null;
        db.run(sql.adoptAttempt, workerId, claim.attempt);
        recordAttemptEvent(db, { kind: 'adopted' }, claim.attempt);
        return toClaimedJob(db.get(sql.claimedJob, claim.job)!);
      }),
    seal: () => db.read(() => readSeal(db)),
    storeSeal: (value) =>
      db.write('storeSeal', () => {
        if (readSeal(db)?.value === value) return;
        db.run(sql.putSeal, `${value} ${Number(db.get(sql.lastAttempt)?.number ?? 0)}`);
      }),
    runningJobs: () => db.read(() => db.all(sql.runningJobs).map(toClaimedJob)),
    mine: (workerId) => db.read(() => db.all(sql.jobsOfWorker, workerId).map(toClaimedJob)),
    wishes: (workerId) => db.read(() => readWishes(db, workerId)),
    signalSent: ({ attempt, token }, signal) =>
      db.write('signalSent', () => void db.run(sql.clearSignal, attempt, token, signal)),
  };
}

function mark(db: Connection, { attempt, token }: Claim, reason: EndReason): boolean {
  const before = db.get(sql.endReason, attempt)?.end_reason ?? null;
  if (db.run(sql.markAttempt, reason, attempt, token) === 0) return false;
  if (before === null) recordAttemptEvent(db, attemptEndingEvent(reason), attempt);
  return true;
}

function readSeal(db: Connection): Seal | null {
  const [value, after] = String(db.get(sql.seal)?.value ?? '').split(' ');
  return after === undefined ? null : { value: value!, after: Number(after) };
}

/** Starts an attempt of the job with this number. Returns null if the job was held instead. */
type TakeJob = (db: Connection, number: number, workerId: string, now: number) => ClaimedJob | null;

function claim(db: Connection, request: ClaimRequest, now: number, takeOne: TakeJob): ClaimResult {
  const results = settleAll(db, request.settlements, request.workerId);
  const settled = results.map((result) => result.answer);
  const hasUnblocked = results.some((result) => result.metDependencies > 0);
  const { most, hasPlaced } = readLimits(db);
  const limit = Math.min(request.limit, remainingRoom(db, most));
  const mayHaveMadeRoom = most !== null || results.some((result) => result.hasLimitedQueue);
  const ahead = most === null ? (request.ahead ?? 0) : 0;
  if (limit + ahead <= 0) return { settled, jobs: [], mayHaveMadeRoom, hasUnblocked };
  const jobNumbers = chooseJobs(db, { ...request, limit, ahead, hasPlaced }, now);
  const jobs = jobNumbers.map((number) => takeOne(db, number, request.workerId, now));
  return { settled, jobs: jobs.filter((job) => job !== null), mayHaveMadeRoom, hasUnblocked };
}

/** Reads the setting in every claim, so that it holds for every worker as soon as it is set. Also tells whether there are placed jobs. */
function readLimits(db: Connection): { most: number | null; hasPlaced: boolean } {
  const row = db.get(sql.settingAndAnyPlaced, RUNNING_LIMIT_KEY)!;
  return { most: toRunningLimit(row.value), hasPlaced: row.any_placed === 1 };
}

function remainingRoom(db: Connection, most: number | null): number {
  return most === null ? Number.POSITIVE_INFINITY : most - (db.get(sql.totalRunning)!.jobs as number);
}

function takeJob(db: Connection, number: number, workerId: string, now: number): ClaimedJob {
  const attempt = db.insert(sql.insertAttempt, workerId, now, now, number);
  db.run(sql.takeJob, attempt, workerId, now, now, number);
  recordAttemptEvent(db, { kind: 'started' }, attempt);
  const row = db.get(sql.claimedJob, number)!;
  refuseUnreadable(row);
  return toClaimedJob(row);
}

/** Takes a job, or holds it if its row cannot be read. Otherwise that job would keep every worker from claiming any job. */
function takeOrHoldJob(db: Connection, number: number, workerId: string, now: number): ClaimedJob | null {
  db.exec('SAVEPOINT take');
  let job: ClaimedJob | null = null;
  try {
    job = takeJob(db, number, workerId, now);
  } catch (error) {
    if (!isBadRow(error)) throw error;
    db.exec('ROLLBACK TO take');
    db.run(sql.holdBadJob, now, `cannot be started: ${(error as Error).message}`, number);
    recordJobEvent(db, { kind: 'held' }, db.get(idOfJob, number)!.id as string);
  }
  // Other errors skip this: SQLite may have rolled back everything, and a second error would hide the first.
  db.exec('RELEASE take');
  return job;
}
