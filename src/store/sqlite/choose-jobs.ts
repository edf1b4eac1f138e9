import type { ClaimRequest } from '../contract/claims.ts';
import { compareJobs, firstOf, type Head, isUnlimited, urgentEnough } from '../head-rows.ts';
import type { QueueRoom } from '../queue-rows.ts';
import { countBeside, servedBy, startableBy, toFreeWorkers } from '../shared-room.ts';
import type { Connection } from './connection.ts';
import { dueQueues, readyQueues } from './open-queues.ts';
import * as sql from './sql/claims.ts';

/** At most this many due jobs become ready in one transaction, so that no other writer waits long. */
const PROMOTED_AT_ONCE = 1000;
/** A claim corrects the bounds of the queues that it has read if more of them than this are wrong. With few queues it never writes them. */
const MOST_WRONG_BOUNDS = 4;
/** If this many queues have enough jobs for the free slots, a claim reads no more of them for jobs to claim ahead. */
const MOST_READ_AHEAD = 32;

interface JobRequest
  extends Pick<ClaimRequest, 'workerId' | 'queues' | 'limit' | 'aheadPriority' | 'leavesRoom'> {
  ahead: number;
  /** How many more jobs max-concurrent-jobs allows. */
  room: number;
}

/**
 * Makes due jobs ready, and returns the numbers of the jobs to claim, and that of a job for which it leaves room. The cost depends
 * neither on the lengths of the queues nor on their number.
 */
export function chooseJobs(
  db: Connection,
  request: JobRequest,
  now: number,
): { numbers: number[]; leftRoomFor: Head | null } {
  // Room is left for due jobs, too.
  const isShared = request.room !== Number.POSITIVE_INFINITY && request.queues !== null;
  promoteDueJobs(db, isShared ? null : request.queues, now);
  let taken = urgentEnough(bestHeads(db, request, now), request);
  const others = isShared && taken.length > 0 ? jobsOfOthers(db, request, taken.at(-1)!, now) : [];
  const count = countBeside(others, taken, request.room);
  const leftRoomFor = count < taken.length ? others[0]! : null;
  if (request.leavesRoom !== false) taken = taken.slice(0, count);
  spendTokens(db, taken);
  return { numbers: taken.map((head) => head.number), leftRoomFor };
}

/** Returns the jobs before `last` that this worker does not serve and that other workers can start now, in order. */
function jobsOfOthers(db: Connection, { workerId, queues }: JobRequest, last: Head, now: number): Head[] {
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
function bestHeads(db: Connection, { queues, limit, ahead }: JobRequest, now: number): Head[] {
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

function spendTokens(db: Connection, taken: Head[]): void {
  for (const queue of new Set(taken.map((head) => head.queue))) {
    if (queue.tokens === null) continue;
    const spent = taken.filter((head) => head.queue === queue).length;
    db.run(sql.spendTokens, queue.tokens - spent, queue.tokensAt, queue.number);
  }
}
