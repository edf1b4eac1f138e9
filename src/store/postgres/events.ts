import type { StoreEvent } from '../../core/rules/events.ts';
import { countExcessEvents, type EventRetention } from '../../core/rules/retention.ts';
import type { EventStore } from '../contract/events.ts';
import { toEvent } from '../event-rows.ts';
import type { Row } from '../row.ts';
import type { ServerConnection } from './connection.ts';
import { foldLog, readFolded } from './fold.ts';
import { recordEvent } from './record-events.ts';
import * as sql from './sql/events.ts';
import type { Transaction } from './transaction.ts';

/** At most this many rows are removed in one transaction. */
const ROWS_AT_ONCE = 1000;

/** The log is folded before events are read, so that every committed change has its event. */
export function eventStore(db: ServerConnection): EventStore {
  return {
    events: (after, limit) => readFolded(db, (tx) => events(tx, after, limit)),
    eventsOfJob: (id, after, to, limit) =>
      readFolded(db, async (tx) => (await tx.all(sql.eventsOfJob, id, after, to, limit)).map(toEvent)),
    lastEventNumber: () => readFolded(db, lastEventNumber),
    lastEventNumberBefore: (at) => readFolded(db, (tx) => lastEventNumberBefore(tx, at)),
    note: (event) => db.write('note', (tx) => recordEvent(tx, event)),
    async pruneEvents(keep, now) {
      await foldLog(db);
      const excess = await excessEvents(db, keep, now, 0);
      const last = excess.at(-1);
      if (last === undefined) return 0;
      return db.write('pruneEvents', async (tx) => {
        // Another process may have removed some of them since.
        const oldest = await tx.all<OldEvent>(sql.oldestEvents, 0, excess.length);
        await tx.run(sql.deleteEvents, last.number);
        return countEvents(oldest.filter((row) => row.number <= last.number));
      });
    },
    prunableEvents: (keep, now) => readFolded(db, (tx) => prunable(tx, keep, now)),
  };
}

async function events(tx: Transaction, after: number, limit: number): Promise<StoreEvent[]> {
  const result: StoreEvent[] = [];
  for (const row of await tx.all(sql.events, after, limit)) {
    if (result.length === limit) break;
    if (row.jobs === 1) result.push(toEvent(row));
    else result.push(...(await expandRow(tx, row, after, limit - result.length)));
  }
  return result;
}

/** Returns at most `limit` events with numbers above `after` from a row that stands for one event per job. */
async function expandRow(tx: Transaction, row: Row, after: number, limit: number): Promise<StoreEvent[]> {
  const firstNumber = (row.number as number) - (row.jobs as number) + 1;
  const from = Math.max(firstNumber, after + 1);
  const count = Math.min(limit, (row.number as number) - from + 1);
  const job = (row.first_job as number) + from - firstNumber;
  const rows = await tx.all(sql.jobsOfEvent, job, job + count);
  const jobs = new Map(rows.map((one) => [one.number, one]));
  return Array.from({ length: count }, (_, i) => {
    const one = jobs.get(job + i);
    return toEvent({ ...row, number: from + i, id: one?.id ?? null, queue: row.queue ?? one?.queue ?? null });
  });
}

async function lastEventNumber(tx: Transaction): Promise<number> {
  return (await tx.get<{ last: number }>(sql.lastEventNumber))!.last;
}

/** Finds the event by bisection, because there may be millions. Assumes that times rise with the numbers. */
async function lastEventNumberBefore(tx: Transaction, at: number): Promise<number> {
  const last = await lastEventNumber(tx);
  let low = 1;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = await tx.get(sql.firstEventFrom, middle);
    if (row === undefined || (row.at as number) >= at) high = middle;
    else low = middle + 1;
  }
  const first = (await tx.get(sql.firstEventFrom, low))?.first as number | undefined;
  return first === undefined ? last : first - 1;
}

interface OldEvent {
  number: number;
  at: number;
  jobs: number;
}

/** Returns a batch of the events with numbers above `after` that are to be removed, oldest first. */
async function excessEvents(
  tx: Pick<Transaction, 'all'>,
  keep: EventRetention,
  now: number,
  after: number,
): Promise<OldEvent[]> {
  const oldest = await tx.all<OldEvent & { last: number }>(sql.oldestEvents, after, ROWS_AT_ONCE);
  return oldest.slice(0, countExcessEvents(keep, oldest[0]?.last ?? 0, oldest, now));
}

const countEvents = (rows: OldEvent[]): number => rows.reduce((total, row) => total + row.jobs, 0);

async function prunable(tx: Transaction, keep: EventRetention, now: number): Promise<number> {
  let total = 0;
  for (let after = 0; ; ) {
    const excess = await excessEvents(tx, keep, now, after);
    total += countEvents(excess);
    if (excess.length < ROWS_AT_ONCE) return total;
    after = excess.at(-1)!.number;
  }
}
