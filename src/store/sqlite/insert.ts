import type { Uniqueness } from '../../core/jobs/job.ts';
import { pushValues, type QueuedSpec } from '../new-rows.ts';
import { isPlain, pushPlainValues } from '../parts/insert.ts';
import type { SqlValue } from '../row.ts';
import type { Connection } from './connection.ts';
import { isUniqueViolation } from './failures.ts';
import { addRow } from './insert-one.ts';
import { newQueueBounds } from './queue-bounds.ts';
import * as sql from './sql/insert.ts';
import { insertJob } from './sql/insert-one.ts';

/** Inserts jobs, in large batches where possible. Returns their numbers. */
export function insertRows(db: Connection, batch: QueuedSpec[], now: number): (number | undefined)[] {
  const unique = batch[0]!.job.unique;
  const numbers = unique === null ? insertBatch(db, batch, now) : [insertUnique(db, batch[0]!, unique, now)];
  const bounds = newQueueBounds(db, now);
  for (let i = 0; i < batch.length; i++) if (numbers[i] !== undefined) bounds.add(numbers[i]!, batch[i]!);
  bounds.end();
  return numbers;
}

function insertBatch(db: Connection, batch: QueuedSpec[], now: number): number[] {
  const numbers: number[] = [];
  for (const rows of sql.JOBS_AT_ONCE)
    while (batch.length - numbers.length >= rows)
      insertInOneStatement(db, batch.slice(numbers.length, numbers.length + rows), now, numbers);
  insertOneByOne(db, batch.slice(numbers.length), now, numbers);
  return numbers;
}

/** Inserts jobs, and adds their numbers to the list. */
function insertInOneStatement(db: Connection, batch: QueuedSpec[], now: number, numbers: number[]): void {
  try {
    // The size of a stdin is in a column that plain jobs do not set.
    const plain = batch.every(({ job }) => job.stdin === null && isPlain(job));
    const statement = plain ? sql.insertPlainJobs(batch.length) : sql.insertJobs(batch.length);
    const values: SqlValue[] = [];
    const push = plain ? pushPlainValues : pushValues;
    for (const one of batch) push(values, one, now);
    const last = db.insert(statement, ...values);
    for (let number = last - batch.length + 1; number <= last; number++) numbers.push(number);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    // No job of the batch was added. Inserting the jobs one by one shows which id exists.
    insertOneByOne(db, batch, now, numbers);
  }
}

function insertOneByOne(db: Connection, batch: QueuedSpec[], now: number, numbers: number[]): void {
  for (const one of batch) numbers.push(addRow(db.insert, insertJob, one, now));
}

/** Inserts a job with a unique key, unless another job has the key. */
function insertUnique(
  db: Connection,
  queued: QueuedSpec,
  { key, forMs, while: during }: Uniqueness,
  now: number,
): number | undefined {
  const values = [key, forMs === null ? during : null, forMs === null ? null : now + forMs, key];
  const added = addRow(db.run, sql.insertUniqueJob, queued, now, values);
  return added === 0 ? undefined : (db.get(sql.insertedNumber)!.number as number);
}
