import type { Uniqueness } from '../../core/jobs/job.ts';
import { jobExists, pushValues, type QueuedSpec } from '../new-rows.ts';
import { isPlain, pushPlainValues } from '../parts/insert.ts';
import type { SqlValue } from '../row.ts';
import { all, type Steps } from '../steps.ts';
import * as sql from './sql/insert.ts';

/** Inserts jobs in one statement. Returns their numbers. */
export function* insertRows(batch: QueuedSpec[], now: number): Steps<(number | undefined)[]> {
  const unique = batch[0]!.job.unique;
  // The size of a stdin is in a column that plain jobs do not set.
  const plain = unique === null && batch.every(({ job }) => job.stdin === null && isPlain(job));
  const push = plain ? pushPlainValues : pushValues;
  const columns = columnsOf(batch, (values, one) => {
    push(values, one, now);
    if (unique !== null) pushUnique(values, unique, now);
  });
  const statement = unique !== null ? sql.insertUniqueJob : plain ? sql.insertPlainJobs : sql.insertJobs;
  const rows = yield* all<{ id: string; number: number }>(statement, ...columns);
  const numbers = new Map(rows.map((row) => [row.id, row.number]));
  if (rows.length < batch.length && unique === null) refuseExisting(batch, numbers);
  return batch.map(({ job }) => numbers.get(job.id));
}

function pushUnique(values: SqlValue[], { key, forMs, while: during }: Uniqueness, now: number): void {
  values.push(key, forMs === null ? during : null, forMs === null ? null : now + forMs, key);
}

/** Returns the values of many jobs by column. */
function columnsOf(batch: QueuedSpec[], push: (values: SqlValue[], one: QueuedSpec) => void): SqlValue[][] {
  const columns: SqlValue[][] = [];
  for (const one of batch) {
    const values: SqlValue[] = [];
    push(values, one);
    for (const [i, value] of values.entries()) {
      columns[i] ??= [];
      columns[i].push(value);
    }
  }
  return columns;
}

/** Throws for the first job that was not added, because its id exists or comes twice. */
function refuseExisting(batch: QueuedSpec[], numbers: Map<string, number>): void {
  const seen = new Set<string>();
  for (const { job } of batch) {
    if (!numbers.has(job.id) || seen.has(job.id)) throw jobExists(job.id);
    seen.add(job.id);
  }
}
