import {
  besideOthers,
  compareJobs,
  firstOf,
  type Head,
  isUnlimited,
  servedBy,
  startableBy,
  toFreeWorkers,
  tokensAfter,
  urgentEnough,
} from '../claim-order.ts';
import type { ClaimRequest } from '../contract/claims.ts';
import { claimStatements, type Room, slotsIn, UnreadableJobs } from '../parts/claims.ts';
import type { Row } from '../row.ts';
import type { QueueRoom } from '../rows.ts';
import type { TakenJobs } from '../steps.ts';
import type { Connection } from './connection.ts';
import { numbered, SQLITE } from './engine.ts';
import { isBadRow } from './failures.ts';
import { dueQueues, readyQueues } from './open-queues.ts';
import * as sql from './sql/claims.ts';
import { logStart } from './sql/log.ts';

/** At most this many due jobs become ready in one transaction, so that no other writer waits long. */
const PROMOTED_AT_ONCE = 1000;
/** A claim corrects the bounds of the queues that it has read if more of them than this are wrong. With few queues it never writes them. */
const MOST_WRONG_BOUNDS = 4;
/** If this many queues have enough jobs for the free slots, a claim reads no more of them for jobs to claim ahead. */
const MOST_READ_AHEAD = 32;

/**
 * Makes due jobs ready, and starts attempts of the first ready jobs. The cost depends neither on the lengths of the queues nor on their
 * number.
 */
export function takeJobs(db: Connection, request: ClaimRequest, given: Room, now: number): TakenJobs {
  const { limit, ahead, room } = slotsIn(request, given);
  if (limit + ahead === 0) return { rows: [] };
  const { workerId, queues, aheadPriority } = request;
  // Room is left for due jobs, too.
  const isShared = given.most !== null && queues !== null;
  promoteDueJobs(db, isShared ? null : queues, now);
  const own = urgentEnough(bestHeads(db, queues, limit, ahead, now), { limit, aheadPriority });
  const others = isShared && own.length > 0 ? jobsOfOthers(db, request, own.at(-1)!, now) : [];
  const { taken, leftRoomFor } = besideOthers(others, own, room, request.leavesRoom);
  for (const { queue, tokens } of tokensAfter(taken))
    db.run(sql.spendTokens, tokens, queue.tokensAt, queue.number);
  const rows: Row[] = [];
  for (const [i, { number }] of taken.entries()) {
    const row = takeJob(db, number, i >= limit, [workerId, now, now]);
    // The jobs after one that must wait for a slot do not overtake it.
    if (row === undefined) break;
    rows.push(row);
  }
  return { rows, leftRoomFor };
}

/** Starts an attempt of a job. Returns nothing if the job would have to wait for a slot, but may not be claimed ahead. */
function takeJob(
  db: Connection,
  number: number,
  isAhead: boolean,
  values: [workerId: string, startedAt: number, now: number],
): Row | undefined {
  try {
    const attempt = isAhead
      ? (db.get(sql.insertAttemptAhead, ...values, number)?.number as number | undefined)
      : db.insert(sql.insertAttempt, ...values, number);
    if (attempt === undefined) return undefined;
    db.run(sql.takeJob, attempt, ...values, number);
    db.run(logStart, db.now(), attempt);
    return db.get(numbered(claimStatements(SQLITE).claimedJob), number);
  } catch (error) {
    if (!isBadRow(error)) throw error;
    throw new UnreadableJobs(new Map([[number, (error as Error).message]]));
  }
}

/** Returns the jobs before `last` that this worker does not serve and that other workers can start now, in order. */
function jobsOfOthers(db: Connection, { workerId, queues }: ClaimRequest, last: Head, now: number): Head[] {
  const workers = toFreeWorkers(db.all(sql.freeWorkers, workerId));
  const slots = workers.reduce((sum, { free }) => sum + free, 0);
  const heads: Head[] = [];
  if (slots === 0) return heads;
  for (const queue of readyQueues(db, servedBy(workers), now)) {
    if (compareJobs(last, queue.readyBound!) < 0 || heads.length >= slots) break;
    if (!queues!.includes(queue.name)) heads.push(...headsOf(db, queue, Math.min(queue.room, slots)));
  }
  return startableBy(workers, heads);
}

function promoteDueJobs(db: Connection, names: string[] | null, now: number): void {
  let left = PROMOTED_AT_ONCE;
  // The loop changes what dueQueues reads, so it takes all of them first. There are rarely more than a few.
  for (const { number } of [...dueQueues(db, names, now)]) {
    if (left <= 0) break;
    left -= db.run(sql.promote, number, now, left);
    db.run(sql.setNextDueAt, db.get(sql.nextDueAt, number)!.due_at as number | null, number);
  }
}

/** Returns the ready jobs to claim, in order. It reads no queue that can have none of them. */
function bestHeads(
  db: Connection,
  queues: string[] | null,
  limit: number,
  ahead: number,
  now: number,
): Head[] {
  let best: Head[] = [];
  let queuesRead = 0;
  const wrongBounds: { queue: number; first: Head | undefined }[] = [];
  for (const queue of readyQueues(db, queues, now)) {
    const bound = queue.readyBound!;
    const areFirst = (count: number): boolean =>
      count === 0 || (best.length >= count && compareJobs(best[count - 1]!, bound) < 0);
    // A job of a queue with a limit ends the jobs to claim ahead.
    const last = best.length > limit && !isUnlimited(best.at(-1)!.queue) ? best.length : limit + ahead;
    if (areFirst(last) || (queuesRead >= MOST_READ_AHEAD && areFirst(limit))) break;
    const most = Math.min(limit + (isUnlimited(queue) ? ahead : Math.min(ahead, 1)), queue.room);
    if (most <= 0) continue;
    const heads = headsOf(db, queue, most);
    const [first] = heads;
    if (first === undefined || compareJobs(first, bound) !== 0)
      wrongBounds.push({ queue: queue.number, first });
    best = best.length === 0 ? heads : firstOf([...best, ...heads].sort(compareJobs), limit, ahead);
    queuesRead++;
  }
  if (wrongBounds.length > MOST_WRONG_BOUNDS)
    for (const { queue, first } of wrongBounds)
      db.run(sql.setReadyBound, first?.priority ?? null, first?.number ?? null, queue);
  return best;
}

/** Returns at most `most` ready jobs of a queue, in the order in which they are to be claimed. */
function headsOf(db: Connection, queue: QueueRoom, most: number): Head[] {
  return db.all(sql.readyHeads, queue.number, most).map((row) => ({
    number: row.number as number,
    priority: row.priority as number,
    queue,
  }));
}
