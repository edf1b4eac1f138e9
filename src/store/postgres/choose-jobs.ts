import {
  besideOthers,
  compareJobs,
  firstOf,
  type Head,
  isUnlimited,
  startableBy,
  toFreeWorkers,
  tokensAfter,
  urgentEnough,
  withinRoom,
} from '../claim-order.ts';
import type { ClaimRequest } from '../contract/claims.ts';
import { type Room, readRoom, type Slots, slotsIn } from '../parts/claims.ts';
import type { Row } from '../row.ts';
import { RUNNING_LIMIT_KEY } from '../settings.ts';
import { all, type Engine, nothing, run, type Steps, type TakenJobs, together } from '../steps.ts';
import { isDue, startsOf, toOpenQueue, type WaitingQueue } from './open-queues.ts';
import * as sql from './sql/claims.ts';
import { SPARE } from './sql/fragments.ts';

/** Returns the queues from which a job can be claimed now. */
const claimable = (queues: WaitingQueue[], now: number): WaitingQueue[] =>
  queues.filter((queue) => queue.room > 0 && (queue.firstReady !== null || isDue(queue, now)));

const toOpenQueues = (rows: Row[], now: number): WaitingQueue[] => rows.map((row) => toOpenQueue(row, now));

/** Makes due jobs ready, and starts attempts of the first ready jobs, within the given room. */
export function* takeJobs(db: Engine, request: ClaimRequest, given: Room, now: number): Steps<TakenJobs> {
  const room = yield* lockLimits(db, request, given, now);
  const slots = slotsIn(request, room);
  if (slots.limit + slots.ahead === 0) return { rows: [] };
  const queues = toOpenQueues(room.queues, now);
  const [, taken] = yield* together(
    promote(queues, now),
    takeFrom(db, request, slots, claimable(queues, now), now),
  );
  return taken;
}

function promote(queues: WaitingQueue[], now: number): Steps<number> {
  const due = queues.filter((queue) => isDue(queue, now)).map((queue) => queue.number);
  return due.length > 0 ? run(sql.promote, due, now) : nothing(0);
}

function* takeFrom(
  db: Engine,
  request: ClaimRequest,
  { limit, ahead, room }: Slots,
  open: WaitingQueue[],
  now: number,
): Steps<TakenJobs> {
  if (open.length === 0) return { rows: [] };
  const { workerId, queues, aheadPriority } = request;
  const isShared = room !== Number.POSITIVE_INFINITY && queues !== null;
  const values = [workerId, now, db.now()];
  if (!isShared && open.every(isUnlimited)) {
    const leastAhead = ahead > 0 ? [aheadPriority ?? null] : [];
    const starts = startsOf(open, now);
    const rows =
      open.length === 1
        ? yield* all(sql.takeFirstOfOne(limit, ahead), ...values, ...starts.flat(), ...leastAhead)
        : yield* all(sql.takeFirst(limit, ahead), ...values, ...starts, ...leastAhead);
    return { rows };
  }
  const most = limit + ahead + SPARE;
  const chosen = withinRoom(yield* headsOf(open, most, now));
  const others = isShared && chosen.length > 0 ? yield* jobsOfOthers(db, request, now) : [];
  const { taken, leftRoomFor } = besideOthers(others, chosen.slice(0, limit), room, request.leavesRoom);
  const count = taken.length;
  const unlimited = urgentEnough(firstOf(chosen, count, most), { limit: 0, aheadPriority });
  const [first, rowsAhead] = yield* together(
    count === 0
      ? nothing([])
      : all(sql.takeChosen, ...values, numbersOf(chosen.slice(0, count + SPARE)), count),
    ahead === 0 ? nothing([]) : all(sql.takeChosenAhead, ...values, numbersOf(unlimited), ahead),
  );
  const started = new Set(first.map((row) => row.number));
  for (const { queue, tokens } of tokensAfter(chosen.filter(({ number }) => started.has(number))))
    yield* run(sql.spendTokens, tokens, queue.tokensAt, queue.number);
  return { rows: [...first, ...rowsAhead], leftRoomFor };
}

/** Returns the first ready jobs of each queue, at most `most` of each, in order. */
function* headsOf(queues: WaitingQueue[], most: number, now: number): Steps<Head[]> {
  const byNumber = new Map(queues.map((queue) => [queue.number, queue]));
  const rows = yield* all(sql.readyHeads(most), ...startsOf(queues, now));
  const heads = rows.map((row) => ({
    number: row.number as number,
    priority: row.priority as number,
    queue: byNumber.get(row.queue as number)!,
  }));
  return heads.sort(compareJobs);
}

/** Returns the jobs that this worker does not serve and that other workers can start now, in order. */
function* jobsOfOthers(db: Engine, { workerId, queues }: ClaimRequest, now: number): Steps<Head[]> {
  const [rows, open] = yield* together(all(sql.freeWorkers, workerId), db.openQueues(null));
  const workers = toFreeWorkers(rows);
  const others = toOpenQueues(open, now).filter((queue) => queue.room > 0 && !queues!.includes(queue.name));
  if (workers.length === 0 || others.length === 0) return [];
  const [, heads] = yield* together(promote(others, now), headsOf(others, SPARE, now));
  return startableBy(workers, withinRoom(heads));
}

/**
 * Locks what limits this claim, and reads the room again after that. The limits may have been set or changed meanwhile, so this is
 * repeated until everything is locked that applies. Without limits, nothing is locked.
 */
function* lockLimits(db: Engine, request: ClaimRequest, given: Room, now: number): Steps<Room> {
  let room = given;
  let isTotalLocked = false;
  const locked = new Set<number>();
  for (;;) {
    if (slotsIn(request, room).limit === 0) return room;
    const open = claimable(toOpenQueues(room.queues, now), now);
    const queues = open.filter((queue) => !isUnlimited(queue) && !locked.has(queue.number));
    const locksTotal: boolean = room.most !== null && open.length > 0 && !isTotalLocked;
    if (queues.length === 0 && !locksTotal) return room;
    const numbers = queues.map((queue) => queue.number);
    const [, , reread] = yield* together(
      locksTotal ? run(sql.lockRunningLimit, RUNNING_LIMIT_KEY) : nothing(0),
      numbers.length > 0 ? run(sql.lockQueues, numbers) : nothing(0),
      readRoom(db, request),
    );
    room = reread;
    isTotalLocked ||= locksTotal;
    for (const number of numbers) locked.add(number);
  }
}

const numbersOf = (heads: Head[]): number[] => heads.map((head) => head.number);
