import type { Transition } from '../../core/decide.ts';
import type { ClaimedJob, State } from '../../core/job.ts';
import type { ClaimRequest, ClaimResult, SettleAnswer, Settlement, Store } from '../store.ts';
import type { Connection, Row } from './connection.ts';
import { toClaimedJob } from './rows.ts';
import * as sql from './sql.ts';

type ClaimVerbs = Pick<Store, 'claim' | 'nextDue' | 'settle' | 'mark' | 'adopt' | 'running'>;

export function claimVerbs(db: Connection): ClaimVerbs {
  return {
    claim: (request, now) => db.write(() => claim(db, request, now)),
    nextDue: (queues) => db.read(() => nextDue(db, queues)),
    settle: (settlement) => db.write(() => settle(db, settlement)),
    mark: (claim, reason) =>
      db.write(() => db.run(sql.markAttempt, reason, claim.attempt, claim.token) === 1),
    adopt: (claim, workerId) =>
      db.write(() => {
        if (db.run(sql.adoptJob, workerId, claim.job, claim.token) === 0) return null;
        db.run(sql.adoptAttempt, workerId, claim.attempt);
        return claimedJob(db, claim.job);
      }),
    running: () => db.read(() => db.all(sql.runningJobs).map(toClaimedJob)),
  };
}

/** So many jobs that fell due become ready in one transaction, whoever waits for the writer. */
const PROMOTED_AT_ONCE = 1000;

function claim(db: Connection, request: ClaimRequest, now: number): ClaimResult {
  const settled = request.settle.map((settlement) => settle(db, settlement));
  if (request.limit <= 0) return { settled, jobs: [] };
  const jobs = bestHeads(db, request, now).map((number) => take(db, number, request.workerId, now));
  return { settled, jobs };
}

/** The heads of the queues that may run now, merged: a long queue never costs more than a short one. */
function bestHeads(db: Connection, request: ClaimRequest, now: number): number[] {
  const heads: Row[] = [];
  let room = PROMOTED_AT_ONCE;
  for (const queue of servedQueues(db, request.queues)) {
    const due = queue.dueAt !== null && queue.dueAt <= now;
    if (due && room > 0) room -= db.run(sql.promote, queue.number, now, room);
    if (queue.ready || due) heads.push(...db.all(sql.readyHeads, queue.number, request.limit));
  }
  heads.sort(
    (a, b) => (b.priority as number) - (a.priority as number) || (a.number as number) - (b.number as number),
  );
  return heads.slice(0, request.limit).map((row) => row.number as number);
}

interface ServedQueue {
  number: number;
  ready: boolean;
  dueAt: number | null;
}

function servedQueues(db: Connection, names: string[] | null): ServedQueue[] {
  const rows = db.all(sql.queues).filter((row) => names === null || names.includes(row.name as string));
  return rows.map((row) => ({
    number: row.number as number,
    ready: row.ready === 1,
    dueAt: row.due_at as number | null,
  }));
}

function take(db: Connection, number: number, workerId: string, now: number): ClaimedJob {
  const attempt = db.lastNumber(sql.insertAttempt, workerId, now, now, number);
  db.run(sql.takeJob, attempt, workerId, now, now, number);
  return claimedJob(db, number);
}

function claimedJob(db: Connection, number: number): ClaimedJob {
  return toClaimedJob(db.get(sql.claimedJob, number)!);
}

function nextDue(db: Connection, names: string[] | null): number | null {
  let earliest: number | null = null;
  for (const queue of servedQueues(db, names)) {
    if (queue.ready) return 0;
    if (queue.dueAt !== null) earliest = Math.min(earliest ?? queue.dueAt, queue.dueAt);
  }
  return earliest;
}

function settle(db: Connection, settlement: Settlement): SettleAnswer {
  return settlement.why === 'never-started' ? release(db, settlement) : conclude(db, settlement);
}

/** An attempt whose command never started leaves no trace in the job's history. */
function release(db: Connection, { claim, finishedAt }: Settlement): SettleAnswer {
  if (db.run(sql.releaseJob, finishedAt, finishedAt, claim.job, claim.token) === 1) {
    db.run(sql.forgetAttempt, claim.attempt);
    return 'applied';
  }
  const before = db.get(sql.releasedBefore, claim.job, claim.token, claim.attempt);
  return before === undefined ? 'lost' : 'already-mine';
}

function conclude(db: Connection, settlement: Settlement): SettleAnswer {
  const { claim, transition, exitCode } = settlement;
  const row = jobAfter(transition, settlement.finishedAt);
  const applied = db.run(
    sql.settleJob,
    ...[row.state, row.phase, transition.attempts, transition.crashes, row.dueAt, row.finishedAt],
    ...[settlement.finishedAt, exitCode, settlement.error, settlement.finishedAt, claim.job, claim.token],
  );
  if (applied === 1) {
    recordAttempt(db, settlement);
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
    ...[output.truncated ? 1 : 0, leftBehind.length === 0 ? null : JSON.stringify(leftBehind), claim.attempt],
  );
  if (output.kept !== null && output.kept.length > 0) db.run(sql.insertOutput, claim.attempt, output.kept);
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
