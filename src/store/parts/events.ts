import type { StoreEvent } from '../../core/rules/events.ts';
import { countExcessEvents, type EventRetention } from '../../core/rules/retention.ts';
import type { EventStore } from '../contract/events.ts';
import { toEvent } from '../event-rows.ts';
import type { Row } from '../row.ts';
import { all, type Engine, get, recordEvent, run, type Steps, statementsOf } from '../steps.ts';
import { foldLog, numberedEvents, readFolded } from './log.ts';

/** At most this many rows are removed in one transaction, which delays other writers by about a millisecond. */
const ROWS_AT_ONCE = 1000;

const JOB_NUMBER = '(SELECT number FROM job WHERE id = $1)';

export const eventStatements = statementsOf(({ isLogInOrder }) => {
  /** Selects the first events that match a condition, folded or not. Each half is read by its key and ends at the limit. */
  const first = (
    where: string,
    end = '',
  ): string => `(SELECT * FROM (SELECT * FROM event WHERE ${where}${end}) AS folded
    UNION ALL SELECT * FROM (SELECT * FROM (${numberedEvents(isLogInOrder)}) AS numbered WHERE ${where}${end}) AS unfolded) AS event`;
  return {
    events: `SELECT event.number, at, kind, actor, jobs, first_job, id, queue.name AS queue, attempt, detail
      FROM ${first('number > $1', ' ORDER BY number LIMIT $2')}
      LEFT JOIN queue ON queue.number = event.queue ORDER BY event.number LIMIT $2`,
    jobsOfEvent: `SELECT job.number, id, queue.name AS queue FROM job JOIN queue ON queue.number = job.queue
      WHERE job.number >= $1 AND job.number < $2`,
    eventsOfJob: `SELECT event.number - CASE WHEN jobs > 1 THEN first_job + jobs - 1 - ${JOB_NUMBER} ELSE 0 END AS number,
        at, kind, actor, $1 AS id, queue.name AS queue, attempt, detail
      FROM ${first(`number > $2 AND number <= $3 AND (id = $1
        OR (jobs > 1 AND ${JOB_NUMBER} BETWEEN first_job AND first_job + jobs - 1))`)}
      LEFT JOIN queue ON queue.number = coalesce(event.queue, (SELECT queue FROM job WHERE id = $1))
      ORDER BY event.number DESC LIMIT $4`,
    /** The last event may have been removed, so its number is kept. */
    lastEventNumber: `SELECT CAST(last + (SELECT coalesce(sum(jobs), 0) FROM log WHERE kind IS NOT NULL AND ${isLogInOrder}) AS bigint)
      AS last FROM event_number`,
    firstEventFrom: `SELECT number - jobs + 1 AS first, at FROM ${first('number >= $1', ' ORDER BY number LIMIT 1')}
      ORDER BY number LIMIT 1`,
    oldestEvents: `SELECT number, at, jobs FROM ${first('number > $1', ' ORDER BY number LIMIT $2')} ORDER BY number LIMIT $2`,
    oldestFolded: 'SELECT number, at, jobs FROM event WHERE number > $1 ORDER BY number LIMIT $2',
    deleteEvents: 'DELETE FROM event WHERE number <= $1',
  };
});

/** The log is folded before events are read, or the events of the log are numbered, so that every committed change has its event. */
export function eventPart(db: Engine): EventStore {
  const sql = eventStatements(db.dialect);
  return {
    events: (after, limit) => readFolded(db, () => events(db, after, limit)),
    eventsOfJob: async (id, after, to, limit) =>
      (await readFolded(db, () => all(sql.eventsOfJob, id, after, to, limit))).map(toEvent),
    lastEventNumber: () => readFolded(db, () => lastEventNumber(db)),
    lastEventNumberBefore: (at) => readFolded(db, () => lastEventNumberBefore(db, at)),
    note: (event) => db.write('note', () => recordEvent(db, event)),
    async pruneEvents(keep, now) {
      await foldLog(db);
      const excess = await db.read(() => excessEvents(db, sql.oldestFolded, keep, now, 0));
      const last = excess.at(-1);
      if (last === undefined) return 0;
      return db.write('pruneEvents', function* (): Steps<number> {
        // Another process may have removed some of them since.
        const oldest = yield* all<OldEvent>(sql.oldestFolded, 0, excess.length);
        yield* run(sql.deleteEvents, last.number);
        return countEvents(oldest.filter((row) => row.number <= last.number));
      });
    },
    prunableEvents: (keep, now) => readFolded(db, () => prunable(db, keep, now)),
  };
}

function* events(db: Engine, after: number, limit: number): Steps<StoreEvent[]> {
  const result: StoreEvent[] = [];
  for (const row of yield* all(eventStatements(db.dialect).events, after, limit)) {
    if (result.length === limit) break;
    if (row.jobs === 1) result.push(toEvent(row));
    else result.push(...(yield* expandRow(db, row, after, limit - result.length)));
  }
  return result;
}

/** Returns at most `limit` events with numbers above `after` from a row that stands for one event per job. */
function* expandRow({ dialect }: Engine, row: Row, after: number, limit: number): Steps<StoreEvent[]> {
  const firstNumber = (row.number as number) - (row.jobs as number) + 1;
  const from = Math.max(firstNumber, after + 1);
  const count = Math.min(limit, (row.number as number) - from + 1);
  const job = (row.first_job as number) + from - firstNumber;
  const rows = yield* all(eventStatements(dialect).jobsOfEvent, job, job + count);
  const jobs = new Map(rows.map((one) => [one.number, one]));
  return Array.from({ length: count }, (_, i) => {
    const one = jobs.get(job + i);
    return toEvent({ ...row, number: from + i, id: one?.id ?? null, queue: row.queue ?? one?.queue ?? null });
  });
}

function* lastEventNumber({ dialect }: Engine): Steps<number> {
  return (yield* get<{ last: number }>(eventStatements(dialect).lastEventNumber))!.last;
}

/** Finds the event by bisection, because there may be millions. Assumes that times rise with the numbers. */
function* lastEventNumberBefore(db: Engine, at: number): Steps<number> {
  const { firstEventFrom } = eventStatements(db.dialect);
  const last = yield* lastEventNumber(db);
  let low = 1;
  let high = last + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const row = yield* get(firstEventFrom, middle);
    if (row === undefined || (row.at as number) >= at) high = middle;
    else low = middle + 1;
  }
  const first = (yield* get<{ first: number }>(firstEventFrom, low))?.first;
  return first === undefined ? last : first - 1;
}

interface OldEvent {
  number: number;
  at: number;
  jobs: number;
}

/** Returns a batch of the events with numbers above `after` that are to be removed, oldest first. */
function* excessEvents(
  db: Engine,
  oldestEvents: string,
  keep: EventRetention,
  now: number,
  after: number,
): Steps<OldEvent[]> {
  const oldest = yield* all<OldEvent>(oldestEvents, after, ROWS_AT_ONCE);
  return oldest.slice(0, countExcessEvents(keep, yield* lastEventNumber(db), oldest, now));
}

const countEvents = (rows: OldEvent[]): number => rows.reduce((total, row) => total + row.jobs, 0);

function* prunable(db: Engine, keep: EventRetention, now: number): Steps<number> {
  const { oldestEvents } = eventStatements(db.dialect);
  let total = 0;
  for (let after = 0; ; ) {
    const excess = yield* excessEvents(db, oldestEvents, keep, now, after);
    total += countEvents(excess);
    if (excess.length < ROWS_AT_ONCE) return total;
    after = excess.at(-1)!.number;
  }
}
