import type { SQLInputValue } from 'node:sqlite';
import { attemptEndingEvent, type NewEvent } from '../../core/events.ts';
import type { State } from '../../core/job.ts';
import type { JobChanges } from '../../core/job-changes.ts';
import type { ActingStore, CancelledJobs, RemovedJobs } from '../contract/acting.ts';
import type { Connection } from './connection.ts';
import { type EndedParent, parentEnded, waitAgain } from './dependencies.ts';
import { EDITABLE_FIELDS } from './job-columns.ts';
import { writerOf } from './new-rows.ts';
import { queueNumber } from './queues.ts';
import { recordOfAttempt, recordOfJob, recordOfKnown } from './record.ts';
import { tally } from './rollups.ts';
import * as sql from './sql/acting.ts';
import { endReason } from './sql/claims.ts';

/** Every guard is in a WHERE clause, so a job that can no longer be changed is left as it is. */
export function actingStore(db: Connection): ActingStore {
  const each = (
    verb: 'hold' | 'release' | 'edit',
    ids: string[],
    what: NewEvent,
    change: (id: string) => number,
  ): Promise<string[]> =>
    db.write(verb, () => {
      const changed = ids.filter((id) => change(id) === 1);
      for (const id of changed) recordOfJob(db, what, id);
      return changed;
    });
  return {
    retry: (ids, from, now, bulk = false) => db.write('retry', () => retry(db, ids, from, now, bulk)),
    keyHolder: (id, from, now) =>
      db.read(() => (db.get(sql.keyHolder, id, JSON.stringify(from), now)?.id as string | undefined) ?? null),
    remove: (ids, from, now) => db.write('remove', () => remove(db, ids, from, now), { usesBallast: true }),
    cancel: (ids, now) => db.write('cancel', () => cancel(db, ids, now), { usesBallast: true }),
    hold: (ids, now) => each('hold', ids, { kind: 'held' }, (id) => db.run(sql.holdJob, now, id)),
    release: (ids, now) => each('release', ids, { kind: 'released' }, (id) => release(db, id, now)),
    edit: (ids, changes, now) =>
      each('edit', ids, { kind: 'edited', detail: { fields: Object.keys(changes) } }, (id) =>
        edit(db, id, changes, now),
      ),
  };
}

/** Retries all jobs before any of them waits again, so that each job of a chain waits for the one before it. */
function retry(db: Connection, ids: string[], from: readonly State[], now: number, bulk: boolean): string[] {
  const states = JSON.stringify(from);
  const changed = ids.filter((id) => {
    db.run(sql.freeSlotFor, id, now);
    return db.run(sql.retryJob, now, now, id, states, bulk ? 1 : 0) === 1;
  });
  for (const id of changed) {
    waitAgain(db, id);
    recordOfJob(db, { kind: 'retried' }, id);
  }
  return changed;
}

function release(db: Connection, id: string, now: number): number {
  const released = db.run(sql.releaseHeld, now, now, id);
  if (released === 1) waitAgain(db, id);
  return released;
}

function remove(db: Connection, ids: string[], from: readonly State[], now: number): RemovedJobs {
  const removed: RemovedJobs = { ids: [], attempts: [], dependents: [] };
  const gone: EndedParent[] = [];
  for (const id of ids) {
    const attempts = db.all(sql.attemptNumbers, id).map((row) => row.number as number);
    const deleted = db.get(sql.deleteJob, id, JSON.stringify(from));
    if (deleted === undefined) continue;
    recordOfKnown(db, { kind: 'deleted' }, id, deleted.queue as number);
    gone.push({ number: deleted.number as number, id, end: 'deleted' });
    removed.ids.push(id);
    removed.attempts.push(...attempts);
  }
  for (const parent of gone) removed.dependents.push(...parentEnded(db, parent, now).cancelled);
  return removed;
}

function cancel(db: Connection, ids: string[], now: number): CancelledJobs {
  const result: CancelledJobs = { cancelled: [], ending: [], ended: [], dependents: [] };
  const over: EndedParent[] = [];
  const figures = tally(db);
  for (const id of ids) {
    const job = db.get(sql.phaseOfJob, id);
    if (job === undefined) continue;
    if (job.phase === 'running') {
      const attempt = job.attempt as number;
      const again = db.get(endReason, attempt)?.end_reason === 'cancelled';
      db.run(sql.cancelAttempt, attempt);
      if (!again) recordOfAttempt(db, attemptEndingEvent('cancelled'), attempt, db.actor);
      result.ending.push(id);
    } else if (db.run(sql.cancelJob, now, now, 'cancelled before it ran', job.number as number) === 1) {
      recordOfJob(db, { kind: 'cancelled' }, id);
      result.cancelled.push(id);
      over.push({ number: job.number as number, id, end: 'cancelled' });
      figures.dropped(job.number as number);
    } else result.ended.push(id);
  }
  figures.write(now);
  for (const parent of over) result.dependents.push(...parentEnded(db, parent, now).cancelled);
  return result;
}

function edit(db: Connection, id: string, changes: JobChanges, now: number): number {
  const { command, runAt, maxRetries } = changes;
  const due = runAt === undefined ? null : (runAt ?? now);
  const values = EDITABLE_FIELDS.flatMap((field): SQLInputValue[] => {
    const value = changes[field.key as keyof JobChanges];
    if (value === undefined) return [0, null];
    return [1, field.key === 'queue' ? queueNumber(db, value as string) : writerOf(field)(value)];
  });
  // A new command also replaces `argv`.
  values.push(command === undefined ? 0 : 1, due, due, due, now, now, id, maxRetries ?? 0);
  return db.run(sql.editJob, ...values);
}
