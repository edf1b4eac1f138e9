import { QueueError } from '../../core/errors.ts';
import { HOOK_QUEUE } from '../../core/jobs/hooks.ts';
import type { JobSpec } from '../../core/jobs/job.ts';
import type { Settlement } from '../contract/claims.ts';
import { isForeignKeyViolation, isUniqueViolation } from './failures.ts';
import { insert } from './insert.ts';
import { busyQueues } from './sql/claims.ts';
import * as sql from './sql/settle.ts';
import type { Transaction } from './transaction.ts';

interface SettledJob {
  queue: string;
  settlement: Settlement;
}

/**
 * Adds the hook jobs of settlements that were applied, in their transaction, so that a crash neither loses nor repeats a hook.
 * Returns whether it has added any.
 */
export async function addHooks(tx: Transaction, jobs: SettledJob[]): Promise<boolean> {
  const withHooks = jobs.map((job) => job.settlement).filter((settlement) => settlement.hooks.length > 0);
  for (const settlement of withHooks) await addJobs(tx, settlement.hooks, settlement);
  // A job that is settled later in the same transaction is still running when this one ends, unless it is a hook itself.
  const last = jobs.findLast((job) => job.queue !== HOOK_QUEUE)?.settlement;
  if (last === undefined || last.onIdle === null) return withHooks.length > 0;
  await tx.get(sql.lockIdle);
  if (!(await isIdle(tx, last.finishedAt))) return withHooks.length > 0;
  await addJobs(tx, [last.onIdle], last);
  return true;
}

/** Adds hook jobs. If two workers generated the same id, the attempt number makes it unique. */
async function addJobs(tx: Transaction, hooks: JobSpec[], { claim, finishedAt }: Settlement): Promise<void> {
  const ids = hooks.map((hook) => hook.id);
  const taken = new Set((await tx.all(sql.takenIds, ids)).map((row) => row.id));
  const renamed = hooks.map((hook) =>
    taken.has(hook.id) ? { ...hook, id: `${hook.id}-${claim.attempt}` } : hook,
  );
  await insert(tx, renamed, finishedAt);
}

/**
 * Tells whether a settlement met a change of the same moment: somebody added a hook with the same id, removed the queue of the hooks,
 * or added a job with the unique key of a job that is given back.
 */
export function isSettlementConflict(error: unknown): boolean {
  const isTaken = error instanceof QueueError && error.code === 'job-exists';
  return isTaken || isForeignKeyViolation(error) || isUniqueViolation(error);
}

async function isIdle(tx: Transaction, now: number): Promise<boolean> {
  return (await tx.all(busyQueues, now, null)).every((row) => row.name === HOOK_QUEUE);
}
