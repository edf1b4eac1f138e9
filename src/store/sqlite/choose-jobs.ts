import type { ClaimRequest } from '../contract/claims.ts';
import { compareJobs, type Head, isUnlimited, urgentEnough } from '../head-rows.ts';
import type { Connection } from './connection.ts';
import { headsOf } from './heads.ts';
import { dueQueues, readyQueues } from './open-queues.ts';
import { withPlacedHeads } from './placed-jobs.ts';
import * as sql from './sql/claims.ts';

/** At most this many due jobs become ready in one transaction, so that no other writer waits long. */
const PROMOTED_AT_ONCE = 1000;
/** A claim corrects the bounds of the queues that it has read if more of them than this are wrong. With few queues it never writes them. */
const MOST_WRONG_BOUNDS = 4;
/** If this many queues have enough jobs for the free slots, a claim reads no more of them for jobs to claim ahead. */
const MOST_READ_AHEAD = 32;

interface JobRequest extends Pick<ClaimRequest, 'queues' | 'limit' | 'aheadPriority' | 'offers'> {
  ahead: number;
  /** Tells whether ready jobs ask for a label or a host. */
  hasPlaced: boolean;
}

/**
 * Makes due jobs ready, and returns the numbers of the jobs to claim. The cost depends neither on the lengths of the queues nor on
 * their number.
 */
export function chooseJobs(db: Connection, request: JobRequest, now: number): number[] {
  const promoted = promoteDueJobs(db, request.queues, now);
  const { offers = [], limit, ahead } = request;
  let best = bestHeads(db, request, now);
  if (request.hasPlaced || promoted > 0)
    best = firstOf(withPlacedHeads(db, best, { ...request, offers }, now), limit, ahead);
  const taken = urgentEnough(best, request);
  spendTokens(db, taken);
  return taken.map((head) => head.number);
}

/** Returns how many jobs became ready. */
function promoteDueJobs(db: Connection, names: string[] | null, now: number): number {
  let left = PROMOTED_AT_ONCE;
  // The loop changes what dueQueues reads, so it takes all of them first. There are rarely more than a few.
  for (const { number } of [...dueQueues(db, names, now)]) {
    if (left <= 0) break;
    left -= db.run(sql.promote, number, now, left);
    db.run(sql.setNextDueAt, db.get(sql.nextDueAt, number)!.due_at as number | null, number);
  }
  return PROMOTED_AT_ONCE - left;
}

/** Returns the ready jobs to claim, in order. It reads no queue that can have none of them. */
function bestHeads(db: Connection, { queues, limit, ahead }: JobRequest, now: number): Head[] {
  let best: Head[] = [];
  let queuesRead = 0;
  const wrongBounds: { queue: number; first: Head | undefined }[] = [];
  for (const queue of readyQueues(db, queues, now)) {
    const bound = queue.readyBound!;
    const areFirst = (count: number): boolean =>
      queue.agingMs === null &&
      (count === 0 || (best.length >= count && compareJobs(best[count - 1]!, bound) < 0));
    if (areFirst(limit + ahead) || (queuesRead >= MOST_READ_AHEAD && areFirst(limit))) break;
    const most = Math.min(limit + (isUnlimited(queue) ? ahead : 0), queue.room);
    if (most <= 0) continue;
    const heads = headsOf(db, queue, most, now);
    const [first] = heads;
    if (first === undefined || (queue.agingMs === null && compareJobs(first, bound) !== 0))
      wrongBounds.push({ queue: queue.number, first });
    best = best.length === 0 ? heads : firstOf([...best, ...heads].sort(compareJobs), limit, ahead);
    queuesRead++;
  }
  if (wrongBounds.length > MOST_WRONG_BOUNDS)
    for (const { queue, first } of wrongBounds)
      db.run(sql.setReadyBound, first?.rank ?? null, first?.number ?? null, queue);
  return best;
}

/** Returns the first `limit` jobs, and the first `ahead` of the others whose queues have no limit. */
function firstOf(heads: Head[], limit: number, ahead: number): Head[] {
  const others = heads.slice(limit).filter((head) => isUnlimited(head.queue));
  return [...heads.slice(0, limit), ...others.slice(0, ahead)];
}

function spendTokens(db: Connection, taken: Head[]): void {
  for (const queue of new Set(taken.map((head) => head.queue))) {
    if (queue.tokens === null) continue;
    const spent = taken.filter((head) => head.queue === queue).length;
    db.run(sql.spendTokens, queue.tokens - spent, queue.tokensAt, queue.number);
  }
}
