import { QueueError } from '../../core/errors.ts';
import type { Row } from '../row.ts';
import type { Connection } from './connection.ts';
import { translateError } from './failures.ts';
import * as sql from './sql/epoch.ts';

const EPOCH_LENGTH = 12;

/** Tells whether this is a valid epoch, 12 hexadecimal digits. A pattern would be slower the first time, and a short command needs it once. */
export function isEpoch(value: unknown): value is string {
  if (typeof value !== 'string' || value.length !== EPOCH_LENGTH) return false;
  for (let i = 0; i < EPOCH_LENGTH; i++) if (!'0123456789abcdef'.includes(value[i]!)) return false;
  return true;
}

/** Reads the epoch of a store. */
export function readEpoch(db: Connection): string {
  let row: Row | undefined;
  try {
    row = db.get(sql.epoch);
  } catch (error) {
    throw translateError(error, db.path);
  }
  if (row === undefined) throw new QueueError('store-corrupt', `${db.path} is damaged: it has no epoch`);
  return checkEpoch(db, row.value);
}

/** Reads the epoch that a store had before it was renewed, or null if it was never renewed. */
export function readOrigin(db: Connection): string | null {
  const row = db.get(sql.origin);
  return row === undefined ? null : checkEpoch(db, row.value);
}

/** Throws if this is not a valid epoch. Epochs become part of paths and are compared with the cookies of processes. */
function checkEpoch(db: Connection, value: unknown): string {
  if (isEpoch(value)) return value;
  throw new QueueError(
    'store-corrupt',
    `${db.path} is damaged: '${String(value).slice(0, 40)}' is not a valid epoch (12 hex digits)`,
  );
}
