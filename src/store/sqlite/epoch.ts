import { QueueError } from '../../core/errors.ts';
import type { Row } from '../row.ts';
import type { Connection } from './connection.ts';
import { translateError } from './failures.ts';
import * as sql from './sql/epoch.ts';

export const EPOCH_PATTERN = /^[0-9a-f]{12}$/;

/** Reads the epoch and the origin of a store. Caches the epoch until `forgetEpoch` is called. */
export function epochReader(db: Connection) {
  let epoch: string | null = null;
  return {
    epoch(): string {
      epoch ??= readEpoch(db);
      return epoch;
    },
    origin(): string | null {
      const row = db.get(sql.origin);
      return row === undefined ? null : checkEpoch(db, row.value);
    },
    forgetEpoch(): void {
      epoch = null;
    },
  };
}

function readEpoch(db: Connection): string {
  let row: Row | undefined;
  try {
    row = db.get(sql.epoch);
  } catch (error) {
    throw translateError(error, db.path);
  }
  if (row === undefined) throw new QueueError('store-corrupt', `${db.path} is damaged: it has no epoch`);
  return checkEpoch(db, row.value);
}

/** Throws if this is not a valid epoch. Epochs become part of paths and are compared with the cookies of processes. */
function checkEpoch(db: Connection, value: unknown): string {
  if (typeof value === 'string' && EPOCH_PATTERN.test(value)) return value;
  throw new QueueError(
    'store-corrupt',
    `${db.path} is damaged: '${String(value).slice(0, 40)}' is not a valid epoch (12 hex digits)`,
  );
}
