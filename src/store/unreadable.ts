import { QueueError } from '../core/errors.ts';
import type { Row } from './row.ts';
import { SAVED_TABLES, unreadableColumn } from './tables.ts';

/** Throws if a job would not run as its user wanted, because a part of its row cannot be read. */
export function refuseUnreadable(row: Row): void {
  const column = unreadableColumn(JOB_TABLE, row);
  if (column !== undefined)
    throw new QueueError('store-corrupt', `the ${column} of job '${row.id}' is not valid JSON`);
}

const JOB_TABLE = SAVED_TABLES.find((table) => table.name === 'job')!;
