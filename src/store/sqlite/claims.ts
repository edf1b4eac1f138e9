import type { Transition } from '../../core/decide.ts';
import type { ParentEnd } from '../../core/dependencies.ts';
import { attemptEnded, attemptEnding } from '../../core/events.ts';
import type { ClaimedJob, EndReason, Seal, State } from '../../core/job.ts';
import type { SettingKey } from '../../core/settings.ts';
import type { ClaimRequest, ClaimResult, SettleAnswer, Settlement, Store } from '../store.ts';
import type { Connection, Row } from './connection.ts';
import { parentEnded } from './dependencies.ts';
import { recordOfAttempt, recordOfJob } from './events.ts';
import { isBadRow } from './failures.ts';
import { byRank, type Head, headsOf } from './heads.ts';
import { addHooks } from './hooks.ts';
import { openQueues } from './queues.ts';
import { countAttempt, tally } from './rollups.ts';
import { refuseUnreadable, toClaimedJob } from './rows.ts';
import * as sql from './sql.ts';

type ClaimVerbs = Pick<
  Store,
  'claim' | 'nextDue' | 'busy' | 'settle' | 'mark' | 'adopt' | 'running' | 'endings' | 'seal' | 'storeSeal'
>;

const SPARE = { spare: true };

export function claimVerbs(db: Connection): ClaimVerbs {
  return {
    async claim(request, now) {
      const how = { spare: request.settle.length > 0 };
      try {
        return await db.write('claim', () => claim(db, request, now, take), how);
      } catch (error) {
        if (!isBadRow(error)) throw error;
        return db.write('claim', () => claim(db, request, now, takeOrHold), how);
      }
    },
    nextDue: (queues, now) => db.read(() => nextDue(db, queues, now)),
    busy: (now) => db.read(() => db.all(sql.busyQueues, now).map((row) => row.name as string)),
    settle: (settlement) => db.write('settle', () => settle(db, settlement).answer, SPARE),
    mark: (claim, reason) =>
      db.write(
        'mark',
        () => {
          const before = db.get(sql.endReason, claim.attempt)?.end_reason ?? null;
          if (db.run(sql.markAttempt, reason, claim.attempt, claim.token) === 0) return false;
          if (before === null) recordOfAttempt(db, attemptEnding(reason), claim.attempt);
          return true;
        },
        SPARE,
      ),
    adopt: (claim, workerId) =>
      db.write('adopt', () => {
        if (db.run(sql.adoptJob, workerId, claim.job, claim.token) === 0) return null;
        db.run(sql.adoptAttempt, workerId, claim.attempt);
        recordOfAttempt(db, { kind: 'adopted' }, claim.attempt);
        return claimedJob(db, claim.job);
      }),
    seal: () => db.read(() => readSeal(db)),
    storeSeal: (value) =>
      db.write('storeSeal', () => {
        if (readSeal(db)?.value === value) return;
        db.run(sql.putSeal, `${value} ${Number(db.get(sql.lastAttempt)?.number ?? 0)}`);
      }),
    running: () => db.read(() => db.all(sql.runningJobs).map(toClaimedJob)),
    endings: (workerId) =>
      db.read(() =>
        db.all(sql.endings, workerId).map((row) => ({
          attempt: row.attempt as number,
          reason: row.end_reason as EndReason,
        })),
      ),
  };
}

function readSeal(db: Connection): Seal | null {
  const [value, after] = String(db.get(sql.seal)?.value ?? '').split(' ');
  return after === undefined ? null : { value: value!, after: Number(after) };
}

/** So many jobs that fell due become ready in one transaction, whoever waits for the writer. */
const PROMOTED_AT_ONCE = 1000;

type Take = (db: Connection, number: number, workerId: string, now: number) => ClaimedJob | null;

function claim(db: Connection, request: ClaimRequest, now: number, takeOne: Take): ClaimResult {
  const results = request.settle.map((settlement) => settle(db, settlement, request.workerId));
  const settled = results.map((result) => result.answer);
  const unblocked = results.some((result) => result.unblocked > 0);
  const most = mostRunning(db);
  const limit = Math.min(request.limit, roomForAll(db, most));
  const limited = most !== null || request.settle.some((one) => isLimited(db, one));
  if (limit <= 0) return { settled, jobs: [], limited, unblocked };
  const heads = bestHeads(db, { ...request, limit }, now);
  return {
    settled,
    jobs: heads.map((number) => takeOne(db, number, request.workerId, now)).filter((job) => job !== null),
    limited,
    unblocked,
  };
}

/** Its end makes room in a queue that others may be waiting for. */
function isLimited(db: Connection, { claim }: Settlement): boolean {
  return (db.get(sql.settledQueueLimit, claim.job)?.concurrency ?? null) !== null;
}

const MOST_RUNNING = 'max-concurrent-jobs' satisfies SettingKey;

/** Read here, so that it holds from the moment it is set, for every worker. */
function mostRunning(db: Connection): number | null {
  const most = Number(db.get(sql.setting, MOST_RUNNING)?.value);
  // A text that is no number, such as none, is no limit; nor is one that somebody changed in the database.
  return Number.isInteger(most) && most >= 1 ? most : null;
}

function roomForAll(db: Connection, most: number | null): number {
  return most === null ? Number.POSITIVE_INFINITY : most - (db.get(sql.totalRunning)!.jobs as number);
}

/**
 * The heads of the queues that may run now, merged: a long queue never costs more than a short one, and a full or
 * paused one costs nothing.
 */
function bestHeads(db: Connection, request: ClaimRequest, now: number): number[] {
  const heads: Head[] = [];
  const queues = openQueues(db, request.queues, now);
  let room = PROMOTED_AT_ONCE;
  for (const queue of queues) {
    const due = queue.dueAt !== null && queue.dueAt <= now;
    if (due && room > 0) room -= db.run(sql.promote, queue.number, now, room);
    const most = Math.min(request.limit, queue.room);
    if (!(queue.ready || due) || most <= 0) continue;
    heads.push(...headsOf(db, queue, most, now));
  }
  heads.sort(byRank);
  const taken = heads.slice(0, request.limit);
  spendTokens(db, taken, now);
  return taken.map((head) => head.number);
}

function spendTokens(db: Connection, taken: Head[], now: number): void {
  for (const queue of new Set(taken.map((head) => head.queue))) {
    if (queue.tokens === null) continue;
    const spent = taken.filter((head) => head.queue === queue).length;
    db.run(sql.spendTokens, queue.tokens - spent, now, queue.number);
  }
}

function take(db: Connection, number: number, workerId: string, now: number): ClaimedJob {
  const attempt = db.lastNumber(sql.insertAttempt, workerId, now, now, number);
  db.run(sql.takeJob, attempt, workerId, now, now, number);
  recordOfAttempt(db, { kind: 'started' }, attempt);
  const row = db.get(sql.claimedJob, number)!;
  refuseUnreadable(row);
  return toClaimedJob(row);
}

/** Holds a job that cannot be taken because of what is in its row: it would keep every worker from all others. */
function takeOrHold(db: Connection, number: number, workerId: string, now: number): ClaimedJob | null {
  db.exec('SAVEPOINT take');
  let job: ClaimedJob | null = null;
  try {
    job = take(db, number, workerId, now);
  } catch (error) {
    if (!isBadRow(error)) throw error;
    db.exec('ROLLBACK TO take');
    db.run(sql.holdBadJob, now, `cannot be started: ${(error as Error).message}`, number);
    recordOfJob(db, { kind: 'held' }, db.get(sql.idOfJob, number)!.id as string);
  }
  // Not after any other error: SQLite may have rolled back everything, and a second error would hide the first.
  db.exec('RELEASE take');
  return job;
}

function claimedJob(db: Connection, number: number): ClaimedJob {
  return toClaimedJob(db.get(sql.claimedJob, number)!);
}

function nextDue(db: Connection, names: string[] | null, now: number): number | null {
  let earliest: number | null = null;
  for (const queue of openQueues(db, names, now)) {
    const due = queue.ready ? 0 : queue.dueAt;
    if (due === null || queue.openAt === Number.POSITIVE_INFINITY) continue;
    const at = Math.max(due, queue.openAt);
    earliest = Math.min(earliest ?? at, at);
  }
  return earliest;
}

interface Settled {
  answer: SettleAnswer;
  /** So many jobs waited for this end. */
  unblocked: number;
}

/** `by`: who says so, for the event; without it, whoever holds the attempt. */
export function settle(db: Connection, given: Settlement, by: string | null = null): Settled {
  const attempt = db.get(sql.endingAttempt, given.claim.attempt);
  const cancelled = attempt?.end_reason === 'cancelled';
  if (given.why === 'never-started') {
    const answer = release(db, given, cancelled, by);
    return { answer, unblocked: answer === 'applied' ? unblock(db, given) : 0 };
  }
  const settlement = cancelled ? notTriedAgain(given) : given;
  const answer = conclude(db, settlement, attempt, by);
  if (answer !== 'applied') return { answer, unblocked: 0 };
  const unblocked = unblock(db, settlement);
  // Only now: who has just unblocked others leaves no idle queue behind.
  addHooks(db, settlement);
  return { answer, unblocked };
}

/** Of a job that has ended with this. */
function unblock(db: Connection, { claim, finishedAt }: Settlement): number {
  const job = db.get(sql.endedJob, claim.job);
  if (job === undefined) return 0;
  return parentEnded(
    db,
    { number: claim.job, id: job.id as string, end: job.state as ParentEnd },
    finishedAt,
  );
}

/** A wish to cancel that came while the attempt was ending for another reason still holds. */
function notTriedAgain(settlement: Settlement): Settlement {
  const { to, attempts, crashes } = settlement.transition;
  // An at-most-once job is dead once it was stopped, unless somebody wanted it cancelled.
  const stopped = to === 'dead' && settlement.why === 'stopped';
  if (to !== 'failed' && to !== 'released' && !stopped) return settlement;
  return { ...settlement, transition: { to: 'cancelled', attempts, crashes }, hooks: [] };
}

/** An attempt whose command never started leaves no trace in the job's history. */
function release(
  db: Connection,
  settlement: Settlement,
  cancelled: boolean,
  by: string | null,
): SettleAnswer {
  const { claim, finishedAt } = settlement;
  if (db.run(sql.releaseJob, finishedAt, finishedAt, claim.job, claim.token) === 0) {
    const before = db.get(sql.releasedBefore, claim.job, claim.token, claim.attempt);
    return before === undefined ? 'lost' : 'already-mine';
  }
  if (cancelled) {
    db.run(sql.cancelJob, finishedAt, finishedAt, 'cancelled before it ran', claim.job);
    recordOfJob(db, { kind: 'cancelled' }, db.get(sql.claimedJob, claim.job)!.id as string);
    const figures = tally(db);
    figures.dropped(claim.job);
    figures.write(finishedAt);
  } else recordOfAttempt(db, attemptEnded(settlement), claim.attempt, by);
  db.run(sql.forgetAttempt, claim.attempt);
  return 'applied';
}

function conclude(
  db: Connection,
  settlement: Settlement,
  attempt: Row | undefined,
  by: string | null,
): SettleAnswer {
  const { claim, transition, exitCode } = settlement;
  const row = jobAfter(transition, settlement.finishedAt);
  const applied = db.run(
    sql.settleJob,
    ...[row.state, row.phase, transition.attempts, transition.crashes, row.dueAt, row.finishedAt],
    ...[
      settlement.finishedAt,
      exitCode,
      settlement.error,
      settlement.durationMs ?? null,
      settlement.finishedAt,
    ],
    ...[settlement.output.stored ?? settlement.output.bytes, claim.job, claim.token],
  );
  if (applied === 1) {
    recordAttempt(db, settlement);
    recordOfAttempt(db, attemptEnded(settlement), claim.attempt, by);
    // A repair may have saved the job alone.
    if (attempt !== undefined) countAttempt(db, attempt, settlement);
    return 'applied';
  }
  const before = db.get(sql.settledAttempt, claim.attempt, claim.token);
  return before?.why === settlement.why && before.exit_code === exitCode ? 'already-mine' : 'lost';
}

function recordAttempt(db: Connection, settlement: Settlement): void {
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

interface JobAfter {
  state: State;
  phase: string;
  dueAt: number | null;
  finishedAt: number | null;
}

function jobAfter(transition: Transition, at: number): JobAfter {
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
