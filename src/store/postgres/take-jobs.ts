import { QueueError } from '../../core/errors.ts';
import type { ClaimRequest, ClaimResult } from '../contract/claims.ts';
import { compareJobs, firstOf, type Head, isUnlimited, urgentEnough, withinRoom } from '../head-rows.ts';
import type { Row } from '../row.ts';
import { toClaimedJob } from '../rows.ts';
import { RUNNING_LIMIT_KEY, toRunningLimit } from '../settings.ts';
import { countBeside, startableBy, toFreeWorkers } from '../shared-room.ts';
import type { Engine, Steps } from '../steps.ts';
import { refuseUnreadable } from '../tables.ts';
import { isDue, openQueues, startsOf, type WaitingQueue } from './open-queues.ts';
import * as sql from './sql/claims.ts';
import { SPARE } from './sql/fragments.ts';
import type { Transaction } from './transaction.ts';

/** What may be claimed now. */
interface Room {
  /** The value of max-concurrent-jobs. Null means no limit. */
  most: number | null;
  /** The number of running jobs, if it is limited. */
  running: number;
  queues: WaitingQueue[];
}

/** Reads the limits in every claim, so that they hold for every worker as soon as they are set. */
export async function readRoom(
  tx: Transaction,
  { limit, ahead = 0, queues }: ClaimRequest,
  now: number,
): Promise<Room> {
  const [setting, open] = await Promise.all([
    tx.get(sql.runningLimit, RUNNING_LIMIT_KEY),
    limit + ahead > 0 ? openQueues(tx, queues, now) : [],
  ]);
  return { most: toRunningLimit(setting?.value), running: Number(setting?.running ?? 0), queues: open };
}

const freeSlots = ({ limit }: ClaimRequest, { most, running }: Room): number =>
  Math.max(0, Math.min(limit, most === null ? limit : most - running));

/** Returns the queues from which a job can be claimed now. */
const claimable = ({ queues }: Room, now: number): WaitingQueue[] =>
  queues.filter((queue) => queue.room > 0 && (queue.firstReady !== null || isDue(queue, now)));

/** Claims jobs within the given room. */
export async function takeJobs(
  tx: Transaction,
  request: ClaimRequest,
  given: Room,
  now: number,
): Promise<Pick<ClaimResult, 'jobs' | 'leftRoomFor'>> {
  const room = await lockLimits(tx, request, given, now);
  let limit = freeSlots(request, room);
  let leftRoomFor: Head | null = null;
  const ahead = room.most === null ? (request.ahead ?? 0) : 0;
  if (limit + ahead === 0) return { jobs: [] };
  const due = room.queues.filter((queue) => isDue(queue, now)).map((queue) => queue.number);
  const open = claimable(room, now);
  const isShared = room.most !== null && request.queues !== null;
  const isPlain = !isShared && open.every(isUnlimited);
  const values = [request.workerId, now, tx.now()];
  const takeRows = async (): Promise<Row[]> => {
    if (open.length === 0) return [];
    const leastAhead = ahead > 0 ? [request.aheadPriority ?? null] : [];
    const starts = startsOf(open, now);
    if (isPlain && open.length === 1)
      return tx.all(sql.takeFirstOfOne(limit, ahead), ...values, ...starts.flat(), ...leastAhead);
    if (isPlain) return tx.all(sql.takeFirst(limit, ahead), ...values, ...starts, ...leastAhead);
    const most = limit + ahead + SPARE;
    const heads = await headsOf(tx, open, most, now);
    const chosen = withinRoom(heads.sort(compareJobs));
    if (isShared && chosen.length > 0) {
      const others = await jobsOfOthers(tx, request, now);
      const count = countBeside(others, chosen.slice(0, limit), room.most! - room.running);
      if (count < Math.min(limit, chosen.length)) leftRoomFor = others[0]!;
      if (request.leavesRoom !== false) limit = count;
    }
    const { aheadPriority } = request;
    const unlimited = urgentEnough(firstOf(chosen, limit, most), { limit: 0, aheadPriority });
    const [rows, rowsAhead] = await Promise.all([
      limit === 0 ? [] : tx.all(sql.takeChosen, ...values, numbersOf(chosen.slice(0, limit + SPARE)), limit),
      ahead === 0 ? [] : tx.all(sql.takeChosenAhead, ...values, numbersOf(unlimited), ahead),
    ]);
    await spendTokens(tx, chosen, new Set(rows.map((row) => row.number as number)));
    return [...rows, ...rowsAhead];
  };
  const [, rows] = await Promise.all([due.length > 0 && tx.run(sql.promote, due, now), takeRows()]);
  refuseUnreadableRows(rows);
  return { jobs: rows.map(toClaimedJob), leftRoomFor };
}

/** Returns the first ready jobs of each queue, at most `most` of each, in any order. */
async function headsOf(tx: Transaction, queues: WaitingQueue[], most: number, now: number): Promise<Head[]> {
  const byNumber = new Map(queues.map((queue) => [queue.number, queue]));
  const rows = await tx.all(sql.readyHeads(most), ...startsOf(queues, now));
  return rows.map((row) => ({
    number: row.number as number,
    priority: row.priority as number,
    queue: byNumber.get(row.queue as number)!,
  }));
}

/** Returns the jobs that this worker does not serve and that other workers can start now, in order. */
async function jobsOfOthers(
  tx: Transaction,
  { workerId, queues }: ClaimRequest,
  now: number,
): Promise<Head[]> {
  const [rows, open] = await Promise.all([tx.all(sql.freeWorkers, workerId), openQueues(tx, null, now)]);
  const workers = toFreeWorkers(rows);
  const others = open.filter((queue) => queue.room > 0 && !queues!.includes(queue.name));
  if (workers.length === 0 || others.length === 0) return [];
  const due = others.filter((queue) => isDue(queue, now)).map((queue) => queue.number);
  const [, heads] = await Promise.all([
    due.length > 0 && tx.run(sql.promote, due, now),
    headsOf(tx, others, SPARE, now),
  ]);
  return startableBy(workers, withinRoom(heads.sort(compareJobs)));
}

/**
 * Locks what limits this claim, and reads the room again after that. The limits may have been set or changed meanwhile, so this is
 * repeated until everything is locked that applies. Without limits, nothing is locked.
 */
async function lockLimits(tx: Transaction, request: ClaimRequest, given: Room, now: number): Promise<Room> {
  let room = given;
  let isTotalLocked = false;
  const locked = new Set<number>();
  for (;;) {
    if (freeSlots(request, room) === 0) return room;
    const open = claimable(room, now);
    const queues = open.filter((queue) => !isUnlimited(queue) && !locked.has(queue.number));
    const locksTotal: boolean = room.most !== null && open.length > 0 && !isTotalLocked;
    if (queues.length === 0 && !locksTotal) return room;
    const numbers = queues.map((queue) => queue.number);
    const [, , reread]: [unknown, unknown, Room] = await Promise.all([
      locksTotal && tx.run(sql.lockRunningLimit, RUNNING_LIMIT_KEY),
      numbers.length > 0 && tx.run(sql.lockQueues, numbers),
      readRoom(tx, request, now),
    ]);
    room = reread;
    isTotalLocked ||= locksTotal;
    for (const number of numbers) locked.add(number);
  }
}

const numbersOf = (heads: Head[]): number[] => heads.map((head) => head.number);

async function spendTokens(tx: Transaction, chosen: Head[], taken: Set<number>): Promise<void> {
  const takenHeads = chosen.filter((head) => taken.has(head.number));
  for (const queue of new Set(takenHeads.map((head) => head.queue))) {
    if (queue.tokens === null) continue;
    const spent = takenHeads.filter((head) => head.queue === queue).length;
    await tx.run(sql.spendTokens, queue.tokens - spent, queue.tokensAt, queue.number);
  }
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
export function* holdUnreadable(db: Engine, reasons: Map<number, string>, now: number): Steps<void> {
  for (const [number, reason] of reasons)
    yield* db.changeJobs(
      sql.holdUnreadable,
      { kind: 'held' },
      now,
      ...[number, `cannot be started: ${reason}`],
    );
}
