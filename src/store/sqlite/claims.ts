import type { Transition } from '../../core/decide.ts';
import type { ClaimedJob, State } from '../../core/job.ts';
import type { ClaimRequest, ClaimResult, SettleAnswer, Settlement, Store } from '../store.ts';
import type { Connection } from './connection.ts';
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

function claim(db: Connection, request: ClaimRequest, now: number): ClaimResult {
  const settled = request.settle.map((settlement) => settle(db, settlement));
  if (request.limit <= 0) return { settled, jobs: [] };
  db.run(sql.promote, now);
  const jobs = bestHeads(db, request).map((number) => take(db, number, request.workerId, now));
  return { settled, jobs };
}

/** The heads of the queues that may run now, merged: a long queue never costs more than a short one. */
function bestHeads(db: Connection, request: ClaimRequest): number[] {
  const heads = readyQueues(db, request.queues).flatMap((queue) =>
    db.all(sql.readyHeads, queue, request.limit),
  );
  heads.sort(
    (a, b) => (b.priority as number) - (a.priority as number) || (a.number as number) - (b.number as number),
  );
  return heads.slice(0, request.limit).map((row) => row.number as number);
}

function readyQueues(db: Connection, served: string[] | null): number[] {
  const rows = db.all(sql.readyQueues);
  return rows
    .filter((row) => served === null || served.includes(row.name as string))
    .map((row) => row.number as number);
}

function take(db: Connection, number: number, workerId: string, now: number): ClaimedJob {
  const attempt = db.lastNumber(sql.insertAttempt, workerId, now, now, number);
  db.run(sql.takeJob, attempt, workerId, now, now, number);
  return claimedJob(db, number);
}

function claimedJob(db: Connection, number: number): ClaimedJob {
  return toClaimedJob(db.get(sql.claimedJob, number)!);
}

function nextDue(db: Connection, queues: string[] | null): number | null {
  if (readyQueues(db, queues).length > 0) return 0;
  return (db.get(sql.earliestWaiting)?.due_at as number | null | undefined) ?? null;
}

function settle(db: Connection, settlement: Settlement): SettleAnswer {
  const { claim, transition } = settlement;
  const row = jobAfter(transition, settlement.finishedAt);
  const { attempts, crashes } = transition;
  // An attempt whose command never started leaves no trace in the job's history.
  const forget = settlement.why === 'never-started';
  const applied = db.run(
    sql.settleJob,
    ...[
      row.state,
      row.phase,
      attempts,
      crashes,
      forget ? 1 : 0,
      row.dueAt,
      row.finishedAt,
      settlement.finishedAt,
    ],
    ...[settlement.exitCode, settlement.error, settlement.finishedAt, claim.job, claim.token],
  );
  if (applied === 0) {
    return db.get(sql.settledAttempt, claim.attempt, claim.token)?.why === settlement.why
      ? 'already-mine'
      : 'lost';
  }
  if (forget) db.run(sql.forgetAttempt, claim.attempt);
  else recordAttempt(db, settlement);
  return 'applied';
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
