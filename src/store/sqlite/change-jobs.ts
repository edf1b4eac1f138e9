import type { SQLInputValue } from 'node:sqlite';
import type { NewEvent } from '../../core/rules/events.ts';
import { COUNTS } from '../ranges.ts';
import type { Value } from '../row.ts';
import { type ChangedJob, detailText, type JobChange, type JobStatements } from '../steps.ts';
import type { Connection } from './connection.ts';
import { logChange } from './sql/log.ts';

/** A job before its change. */
interface OldJob extends Pick<ChangedJob, 'number' | 'queue' | 'state'> {
  name: string | null;
  bytes: number;
  figure: string | null;
  isRemoved: 0 | 1;
}

/** The columns that are read before and after a change. A size out of range must not keep a damaged job from being held or removed. */
const columns = `number, queue, state, max(${COUNTS[0]}, min(bytes, ${COUNTS[1]})) AS bytes`;

/** Returns the statements for `changeJobs`. The first one reads the jobs, because SQLite cannot return values from before a change. */
export const jobChange = ({ where, set, isDrop = false }: JobChange): JobStatements => [
  readJobs(where, isDrop ? "'dropped'" : 'NULL', 0),
  `UPDATE job SET ${set} WHERE ${where} RETURNING ${columns}, id, phase`,
];

export const jobRemoval = (where: string): JobStatements => [
  readJobs(where, 'NULL', 1),
  `DELETE FROM job WHERE ${where} RETURNING ${columns}, id, phase`,
];

const readJobs = (where: string, figure: string, isRemoved: 0 | 1): string =>
  `SELECT ${columns}, name, ${figure} AS figure, ${isRemoved} AS isRemoved FROM job WHERE ${where}`;

/** Changes jobs inside a transaction, and logs one row for each. */
export function changeJobs(
  db: Connection,
  [read, change]: JobStatements,
  event: NewEvent | null,
  now: number,
  ...values: Value[]
): ChangedJob[] {
  const given = [null, null, null, null, now, ...values].map(bindable);
  const before = new Map(db.all<OldJob>(...bound(read!, given)).map((job) => [job.number, job]));
  if (before.size === 0) return [];
  const changed = db.all<ChangedJob & { bytes: number }>(...bound(change!, given));
  changed.sort((a, b) => a.number - b.number);
  for (const job of changed) {
    const { figure, isRemoved, ...old } = before.get(job.number)!;
    db.run(
      logChange,
      ...[db.now(), event?.kind ?? null, db.actor, job.id, job.queue, detailText(event?.detail)],
      ...[old.queue, old.state, old.bytes],
      ...(isRemoved === 1 ? [null, null, null] : [job.queue, job.state, job.bytes]),
      ...[figure, now, old.name],
    );
  }
  return changed;
}

const texts = new Map<string, { text: string; count: number }>();

/** Returns a statement with the parameters of SQLite, ?1 instead of $1, and as many of the values as it has parameters. */
export function bound(sql: string, values: SQLInputValue[]): [string, ...SQLInputValue[]] {
  let known = texts.get(sql);
  if (known === undefined) {
    // Statements of this store alone may have plain parameters, and need all values.
    let count = /\?(?!\d)/.test(sql) ? Number.POSITIVE_INFINITY : 0;
    const text = sql.replaceAll(/[$?](\d+)/g, (_, number: string) => {
      count = Math.max(count, Number(number));
      return `?${number}`;
    });
    known = { text, count };
    texts.set(sql, known);
  }
  return [known.text, ...(values.length > known.count ? values.slice(0, known.count) : values)];
}

/** Returns a value as SQLite gets it: an array as JSON. */
export const bindable = (value: Value): SQLInputValue =>
  Array.isArray(value) ? JSON.stringify(value) : (value as SQLInputValue);
