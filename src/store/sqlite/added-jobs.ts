import { QueueError } from '../../core/errors.ts';
import { FIELD_COLUMN_COUNT } from '../job-columns.ts';
import { pushValues, type QueuedSpec } from '../new-rows.ts';
import type { SqlValue } from '../row.ts';
import type { Connection } from './connection.ts';
import { newEnqueueLog } from './enqueue-log.ts';
import { isUniqueViolation } from './failures.ts';
import { newQueueBounds } from './queue-bounds.ts';
import { newTally } from './tally.ts';

/** Stores what belongs to the jobs that a transaction adds, besides their rows: queues, events and figures. */
export function newAddedJobs(db: Connection, now: number) {
  const log = newEnqueueLog(db);
  const bounds = newQueueBounds(db, now);
  const figures = newTally(db);
  return {
    /** Returns the number of a queue, and creates the queue on first use. Must be called once for each queue. */
    queueNumber: bounds.queueNumber,
    /** Must be called for each row after it was written. */
    onWritten(number: number, queued: QueuedSpec): void {
      log.add(number, queued.job.id, queued.queue);
      bounds.add(number, queued);
    },
    /** Must be called once for each job. */
    count: figures.countEnqueued,
    /** Must be called after the last job. */
    end(): void {
      log.end();
      bounds.end();
      figures.write(now);
    },
  };
}

/** The number of arguments of `addRow` for a call with a few extra values. */
const MOST_ARGUMENTS = FIELD_COLUMN_COUNT + 10;

/** Adds a row by `add`, a method of the connection, and returns its result. */
export function addRow(
  add: Connection['run'] | Connection['insert'],
  statement: string,
  queued: QueuedSpec,
  now: number,
  extraValues: SqlValue[] = [],
): number {
  // An array that grows takes memory of several sizes, and a spread beside other arguments copies it once more.
  const call = new Array<SqlValue>(MOST_ARGUMENTS) as [string, ...SqlValue[]];
  call.length = 0;
  call.push(statement);
  pushValues(call, queued, now);
  for (const value of extraValues) call.push(value);
  try {
    return add(...call);
  } catch (error) {
    if (isUniqueViolation(error))
      throw new QueueError('job-exists', `a job with the id '${queued.job.id}' already exists`);
    throw error;
  }
}
