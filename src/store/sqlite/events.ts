import type { StoreEvent } from '../../core/rules/events.ts';
import { countExcessEvents, type EventRetention } from '../../core/rules/retention.ts';
import type { EventStore } from '../contract/events.ts';
import { toEvent } from '../event-rows.ts';
import type { Row } from '../row.ts';
import type { Connection } from './connection.ts';
import { recordEvent } from './record-events.ts';
import * as sql from './sql/events.ts';

/** At most this many rows are removed in one transaction, which delays other writers by about a millisecond. */
const ROWS_AT_ONCE = 1000;

export function eventStore(db: Connection): EventStore {
  return {
    events: (after, limit) => db.read(() => events(db, after, limit)),
    eventsOfJob: (id, after, to, limit) =>
      db.read(() => db.all(sql.eventsOfJob, id, id, id, after, to, id, id, limit).map(toEvent)),
    lastEventNumber: () => db.read(() => lastEventNumber(db)),
    lastEventNumberBefore: (at) => db.read(() => lastEventNumberBefore(db, at)),
    note: (event) => db.write('note', () => recordEvent(db, event)),
    async pruneEvents(keep, now) {
      // A read comes first, so that no other writer waits if there is nothing to remove.
      const hasExcess = await db.read(() => excessEvents(db, keep, now, 0).length > 0);
      return hasExcess ? db.write('pruneEvents', () => removeBatch(db, keep, now)) : 0;
    },
    prunableEvents: (keep, now) => db.read(() => prunable(db, keep, now)),
  };
}

function events(db: Connection, after: number, limit: number): StoreEvent[] {
  const result: StoreEvent[] = [];
  for (const row of db.all(sql.events, after, limit)) {
    if (result.length === limit) break;
    if (row.jobs === 1) result.push(toEvent(row));
    else result.push(...expandRow(db, row, after, limit - result.length));
  }
  return result;
}

/** Returns at most `limit` events with numbers above `after` from a row that stands for one event per job. */
function expandRow(db: Connection, row: Row, after: number, limit: number): StoreEvent[] {
  const firstNumber = (row.number as number) - (row.jobs as number) + 1;
  const from = Math.max(firstNumber, after + 1);
  const count = Math.min(limit, (row.number as number) - from + 1);
  const job = (row.first_job as number) + from - firstNumber;
  const jobs = new Map(db.all(sql.jobsOfEvent, job, job + count).map((one) => [one.number, one]));
  return Array.from({ length: count }, (_, i) => {
    const one = jobs.get(job + i);
    return toEvent({ ...row, number: from + i, id: one?.id ?? null, queue: row.queue ?? one?.queue ?? null });
  });
}

function lastEventNumber(db: Connection): number {
  return (db.get(sql.lastEventNumber)?.seq as number | undefined) ?? 0;
}

/** Finds the event by bisection, because there may be millions. Assumes that times rise with the numbers. */
function lastEventNumberBefore(db: Connection, at: number): number {
  const last = lastEventNumber(db);
  let low = 1;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = db.get(sql.firstEventFrom, middle);
    if (row === undefined || (row.at as number) >= at) high = middle;
    else low = middle + 1;
  }
  const first = db.get(sql.firstEventFrom, low)?.first as number | undefined;
  return first === undefined ? last : first - 1;
}

interface OldEvent {
  number: number;
  at: number;
  jobs: number;
}

/** Returns a batch of the events with numbers above `after` that are to be removed, oldest first. */
function excessEvents(db: Connection, keep: EventRetention, now: number, after: number): OldEvent[] {
  const oldest = db.all<OldEvent>(sql.oldestEvents, after, ROWS_AT_ONCE);
  return oldest.slice(0, countExcessEvents(keep, lastEventNumber(db), oldest, now));
}

const countEvents = (rows: OldEvent[]): number => rows.reduce((total, row) => total + row.jobs, 0);

function removeBatch(db: Connection, keep: EventRetention, now: number): number {
  const excess = excessEvents(db, keep, now, 0);
  const last = excess.at(-1);
  if (last !== undefined) db.run(sql.deleteEvents, last.number);
  return countEvents(excess);
}

function prunable(db: Connection, keep: EventRetention, now: number): number {
  let total = 0;
  for (let after = 0; ; ) {
    const excess = excessEvents(db, keep, now, after);
    total += countEvents(excess);
    if (excess.length < ROWS_AT_ONCE) return total;
    after = excess.at(-1)!.number;
  }
}
