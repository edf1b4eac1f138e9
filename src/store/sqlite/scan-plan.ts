import { SEARCHED_JOBS, type StoreFilter } from '../../core/jobs/filter.ts';
import { STATES } from '../../core/jobs/job.ts';
import { CONDITION_COLUMNS } from '../condition-columns.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/jobs.ts';
import { queueNumber } from './sql/queues.ts';
import { queuesOf, waitingScans } from './waiting-scans.ts';

export type Values = (string | number)[];

/** One index scan with its keys. The scans of one plan find different jobs. */
export interface IndexScan {
  by: 'all' | 'byName' | 'byQueueAndState' | 'bySetAside' | 'byReady' | 'byDue';
  keys: Values;
}

export interface ScanPlan {
  scans: IndexScan[];
  /** Further conditions, which are checked job by job, and the values to bind in them. */
  extra: string;
  values: Values;
  /** Jobs up to this number are left out, because a text search covers only the newest jobs. */
  floor: number;
}

/** Chooses the index scans for a filter. Returns null if its queue does not exist. */
export function planScans(db: Connection, filter: StoreFilter): ScanPlan | null {
  const { text, values } = conditionsOf(filter);
  const queue =
    filter.queue === undefined ? undefined : (db.get(queueNumber, filter.queue)?.number as number);
  if (filter.queue !== undefined && queue === undefined) return null;
  const states = filter.states?.length ? [...new Set(filter.states)] : null;
  // A name is the most selective key, and a text search reads the newest jobs in order. The + keeps SQLite from using other indexes.
  const inStates = states === null ? '' : ` AND +state IN (${states.map(() => '?').join(', ')})`;
  if (filter.name !== undefined || filter.text !== undefined) {
    const inQueue = queue === undefined ? '' : ' AND +job.queue = ?';
    const allValues = [...(queue === undefined ? [] : [queue]), ...(states ?? []), ...values];
    const scan: IndexScan =
      filter.name === undefined ? { by: 'all', keys: [] } : { by: 'byName', keys: [filter.name] };
    const floor = filter.text === undefined ? 0 : Math.max(0, newestJobNumber(db) - SEARCHED_JOBS);
    return { scans: [scan], extra: `${inQueue}${inStates}${text}`, values: allValues, floor };
  }
  if (filter.waiting !== undefined) {
    const scans = waitingScans(db, filter.waiting, states, queue);
    return { scans, extra: `${inStates}${text}`, values: [...(states ?? []), ...values], floor: 0 };
  }
  if (queue === undefined && states === null)
    return { scans: [{ by: 'all', keys: [] }], extra: text, values, floor: 0 };
  const scans = (states ?? STATES).flatMap((state) =>
    (queue === undefined ? queuesOf(db, state) : [queue]).map(
      (number): IndexScan => ({ by: 'byQueueAndState', keys: [number, state] }),
    ),
  );
  return { scans, extra: text, values, floor: 0 };
}

export function newestJobNumber(db: Connection): number {
  return (db.get(sql.newestJobNumber)?.number as number | null) ?? 0;
}

/** Joins the searched columns, so that a search costs one comparison for each job. No id or name contains the separator. */
const SEARCHED_TEXT = 'concat_ws(char(31), id, command, job.name, tags, last_error)';

const IN_DUE_QUEUE = 'job.queue IN (SELECT number FROM queue WHERE name IN (SELECT value FROM json_each(?)))';
/** Matches the selected waiting jobs. A job that is due counts as ready, even if no claim has promoted it yet. */
const WAITING = `CASE phase WHEN 'held' THEN ? WHEN 'blocked' THEN ? WHEN 'ready' THEN ${IN_DUE_QUEUE}
  WHEN 'waiting' THEN iif(due_at <= ?, ${IN_DUE_QUEUE}, iif(state = 'failed', ?, ?)) ELSE 0 END`;

/** Returns the conditions of a filter except name, state and queue, which choose the index. User text is always a bound value. */
function conditionsOf(filter: StoreFilter): { text: string; values: Values } {
  const parts: string[] = [];
  const values: Values = [];
  const add = (text: string, ...given: Values): void => {
    parts.push(` AND ${text}`);
    values.push(...given);
  };
  for (const [key, value] of Object.entries(filter.tags ?? {})) {
    // The cheap text comparison comes first, so that few rows are parsed as JSON.
    add('instr(tags, ?) > 0', JSON.stringify(value));
    add('EXISTS (SELECT 1 FROM json_each(tags) WHERE key = ? AND value = ?)', key, value);
  }
  if (filter.createdBefore !== undefined) add('created_at < ?', filter.createdBefore);
  // LIKE would treat % and _ in an error as wildcards, so instr is used.
  if (filter.error !== undefined) add('instr(lower(last_error), lower(?)) > 0', filter.error);
  if (filter.exitCode !== undefined) add('exit_code = ?', filter.exitCode);
  for (const { field, operator, value } of filter.conditions ?? [])
    add(`${CONDITION_COLUMNS[field]} ${operator} ?`, value);
  if (filter.waiting !== undefined) {
    const { held, blocked, scheduled, retrying, due, now } = filter.waiting;
    const names = JSON.stringify(due);
    add(WAITING, Number(held), Number(blocked), names, now, names, Number(retrying), Number(scheduled));
  }
  if (filter.text !== undefined)
    add(`${SEARCHED_TEXT} LIKE ? ESCAPE '\\'`, `%${filter.text.replaceAll(/[\\%_]/g, '\\$&')}%`);
  return { text: parts.join(''), values };
}
