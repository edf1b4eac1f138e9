import type { Claim, ClaimedJob, EndReason } from '../../core/jobs/job.ts';
import { attemptEndingEvent } from '../../core/rules/events.ts';
import type { Batching, ClaimRequest, ClaimResult, ClaimStore } from '../contract/claims.ts';
import { settleAll } from '../parts/settle.ts';
import { toClaimedJob, toWish } from '../rows.ts';
import type { Engine } from '../steps.ts';
import { readAgenda } from './agenda.ts';
import type { ServerConnection } from './connection.ts';
import { runSteps } from './engine.ts';
import { isSettlementConflict } from './failures.ts';
import { recordAttemptEvent } from './record-events.ts';
import * as sql from './sql/claims.ts';
import { holdUnreadable, readRoom, takeJobs, UnreadableJobs } from './take-jobs.ts';
import type { Transaction } from './transaction.ts';

/** Most of the time of a transaction passes before its statements read the first job, and with the commit. */
const BATCHING: Batching = {
  aheadPerSlot: 4,
  aheadMs: 100,
  mostAhead: Number.POSITIVE_INFINITY,
  gatherMs: 40,
  reservePerSlot: 1,
};

export function claimStore(db: ServerConnection, engine: Engine): ClaimStore {
  return {
    batching: BATCHING,
    claim: async (request, now) => {
      const unreadable = new Map<number, string>();
      for (;;) {
        try {
          return await db.write(
            'claim',
            async (tx) => {
              await runSteps(tx, holdUnreadable(engine, unreadable, now));
              return claim(tx, engine, request, now);
            },
            isSettlementConflict,
          );
        } catch (error) {
          if (!(error instanceof UnreadableJobs)) throw error;
          // Nothing was claimed. The next try holds these jobs and claims others.
          for (const [number, reason] of error.reasons) unreadable.set(number, reason);
        }
      }
    },
    agenda: (workerId, queues, now) => readAgenda(db, workerId, queues, now),
    busyQueues: (now, queues = null) =>
      db.read(async (tx) => (await tx.all(sql.busyQueues, now, queues)).map((row) => row.name as string)),
    settle: (settlement) =>
      db.write(
        'settle',
        async (tx) => (await runSteps(tx, settleAll(engine, [settlement]))).answers[0]!,
        isSettlementConflict,
      ),
    setEndReason: (claim, reason) => db.write('setEndReason', (tx) => setEndReason(tx, claim, reason)),
    adopt: (claim, workerId) => db.write('adopt', (tx) => adopt(tx, claim, workerId)),
    runningJobs: async () => (await db.all(sql.runningJobs, ...db.host())).map(toClaimedJob),
    async mine(workerId) {
      await db.untilCertain();
      return (await db.all(sql.jobsOfWorker, ...db.host(), workerId)).map(toClaimedJob);
    },
    wishes: async (workerId) => (await db.all(sql.wishes, workerId)).map(toWish),
    signalSent: ({ attempt, token }, signal) =>
      db.write('signalSent', async (tx) => void (await tx.run(sql.clearSignal, attempt, token, signal))),
  };
}

async function claim(
  tx: Transaction,
  engine: Engine,
  request: ClaimRequest,
  now: number,
): Promise<ClaimResult> {
  // The room is read in the same round trip, after the statement that settles. It is read again if others had to follow.
  const [settled, firstRoom] = await Promise.all([
    runSteps(tx, settleAll(engine, request.settlements, request.workerId)),
    readRoom(tx, request, now),
  ]);
  const room = settled.hasChangedMore ? await readRoom(tx, request, now) : firstRoom;
  return {
    settled: settled.answers,
    ...(await takeJobs(tx, request, room, now)),
    mayHaveMadeRoom: room.most !== null || settled.hasLimited,
    hasUnblocked: settled.metDependencies > 0,
  };
}

async function setEndReason(tx: Transaction, { attempt, token }: Claim, reason: EndReason): Promise<boolean> {
  const before = await tx.get(sql.markAttempt, reason, attempt, token);
  if (before === undefined) return false;
  if (before.end_reason === null) await recordAttemptEvent(tx, attemptEndingEvent(reason), attempt);
  return true;
}

async function adopt(tx: Transaction, claim: Claim, workerId: string): Promise<ClaimedJob | null> {
  if ((await tx.run(sql.adoptJob, workerId, claim.job, claim.token, ...tx.host())) === 0) return null;
  const [, , row] = await Promise.all([
    tx.run(sql.adoptAttempt, workerId, claim.attempt),
    recordAttemptEvent(tx, { kind: 'adopted' }, claim.attempt),
    tx.get(sql.claimedJob, ...tx.host(), claim.job),
  ]);
  return toClaimedJob(row!);
}
