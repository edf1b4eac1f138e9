import { attemptEndingEvent, type NewEvent } from '../../core/events.ts';
import type { State } from '../../core/job.ts';
import type { JobChanges } from '../../core/job-changes.ts';
import type { CancelledJobs, JobActionStore, RemovedJobs } from '../contract/job-actions.ts';
import { columnValue } from '../new-rows.ts';
import type { SqlValue } from '../row.ts';
import { editableFields } from '../stored-columns.ts';
import type { Connection } from './connection.ts';
import { type EndedParent, handleParentEnd, reopenDependencies } from './dependencies.ts';
import { recordAttemptEvent, recordJobEvent, recordKnownJobEvent } from './record-events.ts';
import { queueNumber } from './settings.ts';
import { endReason } from './sql/claims.ts';
import * as sql from './sql/job-actions.ts';
import { newTally } from './tally.ts';

/** The WHERE clauses hold the conditions for a change, so a job that can no longer be changed is left as it is. */
export function jobActionStore(db: Connection): JobActionStore {
  const changeEach = (
    verb: 'hold' | 'release' | 'edit',
    ids: string[],
    event: NewEvent,
    change: (id: string) => number,
  ): Promise<string[]> =>
    db.write(verb, () => {
      const changed = ids.filter((id) => change(id) === 1);
      for (const id of changed) recordJobEvent(db, event, id);
      return changed;
    });
  return {
    retry: (ids, from, now, bulk = false) => db.write('retry', () => retry(db, ids, from, now, bulk)),
    keyHolder: (id, from, now) =>
      db.read(() => (db.get(sql.keyHolder, id, JSON.stringify(from), now)?.id as string | undefined) ?? null),
    remove: (ids, from, now) => db.write('remove', () => remove(db, ids, from, now), { usesBallast: true }),
    cancel: (ids, now, signal) =>
      db.write('cancel', () => cancel(db, ids, now, signal ?? null), { usesBallast: true }),
    wishSignal: (ids, signal) =>
      db.write('wishSignal', () => ids.filter((id) => db.run(sql.wishSignal, signal, id) === 1)),
    hold: (ids, now) => changeEach('hold', ids, { kind: 'held' }, (id) => db.run(sql.holdJob, now, id)),
    release: (ids, now) => changeEach('release', ids, { kind: 'released' }, (id) => release(db, id, now)),
    edit: (ids, changes, now) =>
      changeEach('edit', ids, { kind: 'edited', detail: { fields: Object.keys(changes) } }, (id) =>
        edit(db, id, changes, now),
      ),
  };
}

/** Makes all jobs pending before it blocks any of them again, so that each job of a chain waits for its parent. */
function retry(db: Connection, ids: string[], from: readonly State[], now: number, bulk: boolean): string[] {
  const states = JSON.stringify(from);
  const changed = ids.filter((id) => {
    db.run(sql.freeExpiredSlotOfJob, id, now);
    return db.run(sql.retryJob, now, now, id, states, bulk ? 1 : 0) === 1;
  });
  for (const id of changed) {
    reopenDependencies(db, id);
    recordJobEvent(db, { kind: 'retried' }, id);
  }
  return changed;
}

function release(db: Connection, id: string, now: number): number {
  const released = db.run(sql.releaseHeld, now, now, now, id);
  if (released === 1) reopenDependencies(db, id);
  return released;
}

function remove(db: Connection, ids: string[], from: readonly State[], now: number): RemovedJobs {
  const removed: RemovedJobs = { ids: [], attempts: [], dependents: [] };
  const deletedParents: EndedParent[] = [];
  for (const id of ids) {
    const attempts = db.all(sql.attemptNumbers, id).map((row) => row.number as number);
    const deleted = db.get(sql.deleteJob, id, JSON.stringify(from));
    if (deleted === undefined) continue;
    recordKnownJobEvent(db, { kind: 'deleted' }, id, deleted.queue as number);
    deletedParents.push({ number: deleted.number as number, id, end: 'deleted' });
    removed.ids.push(id);
    removed.attempts.push(...attempts);
  }
  for (const parent of deletedParents) removed.dependents.push(...handleParentEnd(db, parent, now).cancelled);
  return removed;
}

function cancel(db: Connection, ids: string[], now: number, signal: NodeJS.Signals | null): CancelledJobs {
  const result: CancelledJobs = { cancelled: [], ending: [], ended: [], dependents: [] };
  const cancelledParents: EndedParent[] = [];
  const figures = newTally(db);
  for (const id of ids) {
    const job = db.get(sql.jobSummary, id);
    if (job === undefined) continue;
    if (job.phase === 'running') {
      const attempt = job.attempt as number;
      const wasCancelled = db.get(endReason, attempt)?.end_reason === 'cancelled';
      db.run(sql.cancelAttempt, signal, attempt);
      if (!wasCancelled) recordAttemptEvent(db, attemptEndingEvent('cancelled'), attempt, db.actor);
      result.ending.push(id);
    } else if (db.run(sql.cancelJob, now, now, 'cancelled before it ran', job.number as number) === 1) {
      recordJobEvent(db, { kind: 'cancelled' }, id);
      result.cancelled.push(id);
      cancelledParents.push({ number: job.number as number, id, end: 'cancelled' });
      figures.countDropped(job.number as number);
    } else result.ended.push(id);
  }
  figures.write(now);
  for (const parent of cancelledParents)
    result.dependents.push(...handleParentEnd(db, parent, now).cancelled);
  return result;
}

function edit(db: Connection, id: string, changes: JobChanges, now: number): number {
  const { command, runAt, maxRetries } = changes;
  // A time in the past makes the job due now, because it did not wait before.
  const due = runAt === undefined ? null : Math.max(runAt ?? now, now);
  const values = editableFields().flatMap((field): SqlValue[] => {
    const value = changes[field.key as keyof JobChanges];
    if (value === undefined) return [0, null];
    return [1, field.key === 'queue' ? queueNumber(db, value as string) : columnValue(value)];
  });
  // A new command also replaces `argv`.
  values.push(command === undefined ? 0 : 1, due, due, due, now, now, id, maxRetries ?? 0);
  return db.run(sql.editJob(), ...values);
}
