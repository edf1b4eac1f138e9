import { QueueError } from '../../core/errors.ts';
import { HOOK_QUEUE } from '../../core/hooks.ts';
import type { JobSpec } from '../../core/job.ts';
import type { Settlement } from '../contract/claims.ts';
import type { Connection } from './connection.ts';
import { insert } from './insert.ts';
import { busyQueues } from './sql/claims.ts';

/** In the transaction of a settlement that applied: a crash neither loses a hook nor doubles it. */
export function addHooks(db: Connection, { hooks, onIdle, claim, finishedAt }: Settlement): void {
  for (const hook of hooks) addHook(db, hook, claim.attempt, finishedAt);
  if (onIdle !== null && isIdle(db, finishedAt)) addHook(db, onIdle, claim.attempt, finishedAt);
}

/** Two workers may make the same id within a millisecond; the number of an attempt no two have. */
function addHook(db: Connection, hook: JobSpec, attempt: number, now: number): void {
  try {
    insert(db, [hook], now);
  } catch (error) {
    if (!(error instanceof QueueError && error.code === 'job-exists')) throw error;
    insert(db, [{ ...hook, id: `${hook.id}-${attempt}` }], now);
  }
}

function isIdle(db: Connection, now: number): boolean {
  return db.all(busyQueues, now).every((row) => row.name === HOOK_QUEUE);
}
