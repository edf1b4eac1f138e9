import { QueueError } from '../../core/errors.ts';
import { HOOK_QUEUE } from '../../core/hooks.ts';
import type { JobSpec } from '../../core/job.ts';
import type { Settlement } from '../contract/claims.ts';
import type { Connection } from './connection.ts';
import { insert } from './insert.ts';
import { busyQueues } from './sql/claims.ts';

/** Adds the hook jobs in the transaction of the settlement, so that a crash neither loses nor repeats a hook. */
export function addHooks(db: Connection, { hooks, onIdle, claim, finishedAt }: Settlement): void {
  for (const hook of hooks) addHook(db, hook, claim.attempt, finishedAt);
  if (onIdle !== null && isIdle(db, finishedAt)) addHook(db, onIdle, claim.attempt, finishedAt);
}

/** Adds a hook job. If two workers made the same id in one millisecond, the attempt number makes it unique. */
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
