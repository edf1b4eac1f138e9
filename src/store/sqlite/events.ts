import { systemClock } from '../../core/clock.ts';
import type { EventDetail, EventKind, Happening, StoreEvent } from '../../core/events.ts';
import { type EventRetention, surplusEvents } from '../../core/retention.ts';
import type { Store } from '../store.ts';
import type { Connection, Row } from './connection.ts';
import * as sql from './sql.ts';

type EventVerbs = Pick<
  Store,
  'events' | 'eventsOfJob' | 'lastEvent' | 'lastEventBefore' | 'note' | 'pruneEvents' | 'prunableEvents'
>;

/** In one transaction at most so many rows: about a millisecond for whoever waits for the writer. */
const ROWS_AT_ONCE = 1000;

export function eventVerbs(db: Connection): EventVerbs {
  return {
    events: (after, limit) => db.read(() => events(db, after, limit)),
    eventsOfJob: (id, after, to, limit) =>
      db.read(() => db.all(sql.eventsOfJob, id, id, id, after, to, id, id, limit).map(toEvent)),
    lastEvent: () => db.read(() => lastEvent(db)),
    lastEventBefore: (at) => db.read(() => lastEventBefore(db, at)),
    note: (happening) => db.write('note', () => record(db, happening)),
    async pruneEvents(keep, now) {
      // A look first: as long as nothing has to go, nobody waits for the writer.
      const some = await db.read(() => surplus(db, keep, now, 0).length > 0);
      return some ? db.write('pruneEvents', () => removeBatch(db, keep, now)) : 0;
    },
    prunableEvents: (keep, now) => db.read(() => prunable(db, keep, now)),
  };
}

/** Something that is about no job. */
export function record(db: Connection, { kind, detail }: Happening, actor = db.actor): void {
  db.run(sql.recordEvent, systemClock.now(), kind, actor, json(detail));
}

export function recordOfQueue(db: Connection, { kind, detail }: Happening, queue: number): void {
  db.run(sql.recordQueueEvent, systemClock.now(), kind, db.actor, queue, json(detail));
}

export function recordOfJob(db: Connection, { kind, detail }: Happening, id: string): void {
  db.run(sql.recordJobEvent, systemClock.now(), kind, db.actor, json(detail), id);
}

/** Of a job that is at hand, or no longer there to be asked. */
export function recordOfKnown(db: Connection, { kind, detail }: Happening, id: string, queue: number): void {
  db.run(sql.recordKnown, systemClock.now(), kind, db.actor, id, queue, json(detail));
}

/** By the worker that has the attempt, unless somebody else acts. */
export function recordOfAttempt(
  db: Connection,
  { kind, detail }: Happening,
  attempt: number,
  actor: string | null = null,
): void {
  db.run(sql.recordAttemptEvent, systemClock.now(), kind, actor, json(detail), attempt);
}

function json(detail: EventDetail | undefined): string | null {
  return detail === undefined ? null : JSON.stringify(detail);
}

interface Enqueued {
  first: number;
  last: number;
  id: string;
  /** Null: they are in several. */
  queue: number | null;
}

/** Jobs with numbers that follow each other become one row, however many they are. */
export function enqueuedLog(db: Connection): {
  add(number: number, id: string, queue: number): void;
  end(): void;
} {
  let open: Enqueued | null = null;
  const end = (): void => {
    if (open === null) return;
    const { first, last, id, queue } = open;
    const jobs = last - first + 1;
    const which = [jobs, first, jobs === 1 ? id : null, queue];
    db.run(sql.recordEnqueued, jobs, systemClock.now(), db.actor, ...which);
    open = null;
  };
  return {
    add(number, id, queue) {
      if (open !== null && open.last === number - 1) {
        open.last = number;
        if (open.queue !== queue) open.queue = null;
        return;
      }
      end();
      open = { first: number, last: number, id, queue };
    },
    end,
  };
}

function events(db: Connection, after: number, limit: number): StoreEvent[] {
  const found: StoreEvent[] = [];
  for (const row of db.all(sql.events, after, limit)) {
    if (found.length === limit) break;
    if (row.jobs === 1) found.push(toEvent(row));
    else found.push(...expand(db, row, after, limit - found.length));
  }
  return found;
}

/** One event for each job of a row, those behind `after`. */
function expand(db: Connection, row: Row, after: number, limit: number): StoreEvent[] {
  const firstNumber = (row.number as number) - (row.jobs as number) + 1;
  const from = Math.max(firstNumber, after + 1);
  const many = Math.min(limit, (row.number as number) - from + 1);
  const job = (row.first_job as number) + from - firstNumber;
  const jobs = new Map(db.all(sql.jobsOfEvent, job, job + many).map((one) => [one.number, one]));
  return Array.from({ length: many }, (_, i) => {
    const one = jobs.get(job + i);
    return toEvent({ ...row, number: from + i, id: one?.id ?? null, queue: row.queue ?? one?.queue ?? null });
  });
}

function toEvent(row: Row): StoreEvent {
  // Of a queue that was deleted since, the name stands among the rest.
  const { queue = null, ...detail } = detailOf(row.detail);
  return {
    number: row.number as number,
    at: row.at as number,
    kind: row.kind as EventKind,
    actor: row.actor as string | null,
    jobId: row.id as string | null,
    queue: (row.queue as string | null) ?? (queue as string | null),
    attempt: row.attempt as number | null,
    detail,
  };
}

/** One bad row must not hide all others. */
function detailOf(text: Row[string] | undefined): EventDetail {
  try {
    const read: unknown = JSON.parse((text as string | null) ?? '{}');
    return typeof read === 'object' && read !== null ? (read as EventDetail) : {};
  } catch {
    return {};
  }
}

function lastEvent(db: Connection): number {
  return (db.get(sql.lastEvent)?.seq as number | undefined) ?? 0;
}

/** By bisecting the numbers, whose times rise with them: there may be millions. */
function lastEventBefore(db: Connection, at: number): number {
  const last = lastEvent(db);
  let low = 1;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = db.get(sql.eventFrom, middle);
    if (row === undefined || (row.at as number) >= at) high = middle;
    else low = middle + 1;
  }
  const first = db.get(sql.eventFrom, low)?.first as number | undefined;
  return first === undefined ? last : first - 1;
}

interface OldEvent {
  number: number;
  at: number;
  jobs: number;
}

/** Those behind `after` that have to go, the oldest first, a batch of them. */
function surplus(db: Connection, keep: EventRetention, now: number, after: number): OldEvent[] {
  const oldest = db.all(sql.oldestEvents, after, ROWS_AT_ONCE).map((row) => ({
    number: row.number as number,
    at: row.at as number,
    jobs: row.jobs as number,
  }));
  return oldest.slice(0, surplusEvents(keep, lastEvent(db), oldest, now));
}

const sum = (rows: OldEvent[]): number => rows.reduce((total, row) => total + row.jobs, 0);

function removeBatch(db: Connection, keep: EventRetention, now: number): number {
  const going = surplus(db, keep, now, 0);
  const last = going.at(-1);
  if (last !== undefined) db.run(sql.deleteEvents, last.number);
  return sum(going);
}

function prunable(db: Connection, keep: EventRetention, now: number): number {
  let total = 0;
  for (let after = 0; ; ) {
    const going = surplus(db, keep, now, after);
    total += sum(going);
    if (going.length < ROWS_AT_ONCE) return total;
    after = going.at(-1)!.number;
  }
}
