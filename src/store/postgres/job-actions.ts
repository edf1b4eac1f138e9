import { attemptEndingEvent } from '../../core/events.ts';
import type { State } from '../../core/job.ts';
import type { JobChanges } from '../../core/job-changes.ts';
import type { CancelledJobs, JobActionStore, RemovedJobs } from '../contract/job-actions.ts';
import { columnValue } from '../new-rows.ts';
import type { SqlValue } from '../row.ts';
import { editableFields } from '../stored-columns.ts';
import { type ChangedJob, changeJobs } from './change-jobs.ts';
import type { Connection } from './connection.ts';
import { handleParentEnds, reopenDependencies } from './dependencies.ts';
import { isForeignKeyViolation, isUniqueViolation } from './failures.ts';
import { detailText } from './record-events.ts';
import { queueNumbers } from './settings.ts';
import * as sql from './sql/job-actions.ts';
import type { Transaction } from './transaction.ts';

/** The WHERE clauses hold the conditions for a change, so a job that can no longer be changed is left as it is. */
export function jobActionStore(db: Connection): JobActionStore {
  return {
    retry: (ids, from, now, bulk = false) =>
      // Another job has taken a unique key since the statement began. If the work is repeated, it finds that job.
      db.write('retry', (tx) => retry(tx, ids, from, now, bulk), isUniqueViolation),
    keyHolder: (id, from, now) =>
      db.read(async (tx) => (await tx.get<{ id: string }>(sql.keyHolder, id, from, now))?.id ?? null),
    remove: (ids, from, now) => db.write('remove', (tx) => remove(tx, ids, from, now)),
    cancel: (ids, now, signal) => db.write('cancel', (tx) => cancel(tx, ids, now, signal ?? null)),
    wishSignal: (ids, signal) =>
      db.write('wishSignal', async (tx) => {
        const [, wished] = await Promise.all([
          tx.run(sql.lockJobs, ids),
          tx.all<{ id: string }>(sql.wishSignal, signal, ids),
        ]);
        return inOrder(ids, wished);
      }),
    hold: (ids, now) =>
      db.write('hold', async (tx) =>
        inOrder(ids, await changeJobs(tx, sql.holdJobs, { kind: 'held' }, now, ids)),
      ),
    release: (ids, now) => db.write('release', (tx) => release(tx, ids, now)),
    edit: (ids, changes, now) =>
      // A queue was removed after its number was read.
      db.write('edit', (tx) => edit(tx, ids, changes, now), isForeignKeyViolation),
  };
}

/** Returns the ids of the changed jobs in the order in which the caller gave them. */
function inOrder(ids: string[], changed: Pick<ChangedJob, 'id'>[]): string[] {
  const found = new Set(changed.map((job) => job.id));
  return [...new Set(ids)].filter((id) => found.has(id));
}

/** Makes all jobs pending before it blocks any of them again, so that each job of a chain waits for its parent. */
async function retry(
  tx: Transaction,
  ids: string[],
  from: readonly State[],
  now: number,
  bulk: boolean,
): Promise<string[]> {
  const [, rows] = await Promise.all([
    tx.run(sql.lockJobs, ids),
    tx.all<{ id: string; key: string }>(sql.keysOfJobs, ids),
  ]);
  const keys = new Map(rows.map(({ id, key }) => [id, key]));
  if (keys.size > 0) await tx.run(sql.freeExpiredSlots, [...keys.values()], now);
  const changed: ChangedJob[] = [];
  for (const part of splitByKey(ids, keys))
    changed.push(
      ...(await changeJobs(tx, sql.retryJobs, { kind: 'retried' }, now, part, from, bulk ? 1 : 0)),
    );
  const changedIds = inOrder(ids, changed);
  await reopenDependencies(tx, changedIds);
  return changedIds;
}

/** Splits a list so that no two jobs of one part take the same unique key. Of these two, the first one gets it. */
function splitByKey(ids: string[], keys: ReadonlyMap<string, string>): string[][] {
  const parts: string[][] = [];
  const uses = new Map<string, number>();
  for (const id of ids) {
    const key = keys.get(id);
    const part = key === undefined ? 0 : (uses.get(key) ?? 0);
    if (key !== undefined) uses.set(key, part + 1);
    parts[part] ??= [];
    parts[part].push(id);
  }
  return parts;
}

async function release(tx: Transaction, ids: string[], now: number): Promise<string[]> {
  const released = inOrder(ids, await changeJobs(tx, sql.releaseJobs, { kind: 'released' }, now, ids));
  await reopenDependencies(tx, released);
  return released;
}

async function remove(
  tx: Transaction,
  ids: string[],
  from: readonly State[],
  now: number,
): Promise<RemovedJobs> {
  const [, attempts, removed] = await Promise.all([
    tx.run(sql.lockJobs, ids),
    tx.all<{ number: number }>(sql.attemptsOfRemovable, ids, from),
    changeJobs(tx, sql.removeJobs, { kind: 'deleted' }, now, ids, from),
  ]);
  const parents = removed.map(({ number, id }) => ({ number, id, end: 'deleted' as const, at: now }));
  const dependents = (await handleParentEnds(tx, parents)).cancelled;
  return { ids: inOrder(ids, removed), attempts: attempts.map((one) => one.number), dependents };
}

async function cancel(
  tx: Transaction,
  ids: string[],
  now: number,
  signal: NodeJS.Signals | null,
): Promise<CancelledJobs> {
  const { kind, detail } = attemptEndingEvent('cancelled');
  const [found, cancelled] = await Promise.all([
    tx.all<{ id: string; phase: string }>(sql.lockJobs, ids),
    changeJobs(tx, sql.cancelJobs, { kind: 'cancelled' }, now, ids, 'cancelled before it ran'),
    tx.run(sql.cancelAttempts, tx.now(), kind, tx.actor, detailText(detail), ids, signal),
  ]);
  const phases = new Map(found.map(({ id, phase }) => [id, phase]));
  const inPhase = (phase: string): string[] => [...new Set(ids)].filter((id) => phases.get(id) === phase);
  const parents = cancelled.map(({ number, id }) => ({ number, id, end: 'cancelled' as const, at: now }));
  const dependents = (await handleParentEnds(tx, parents)).cancelled;
  return {
    cancelled: inOrder(ids, cancelled),
    ending: inPhase('running'),
    ended: inPhase('ended'),
    dependents,
  };
}

async function edit(tx: Transaction, ids: string[], changes: JobChanges, now: number): Promise<string[]> {
  const { runAt, maxRetries, queue } = changes;
  const number = queue === undefined ? null : (await queueNumbers(tx, [queue])).get(queue)!;
  const fields = editableFields().filter((field) => changes[field.key as keyof JobChanges] !== undefined);
  const values = fields.map((field): SqlValue => {
    const value = changes[field.key as keyof JobChanges];
    return field.key === 'queue' ? number : columnValue(value);
  });
  // A time in the past makes the job due now, because it did not wait before.
  if (runAt !== undefined) values.push(Math.max(runAt ?? now, now));
  const statement = sql.editJobs({
    columns: fields.map((field) => field.name),
    setsDue: runAt !== undefined,
    exceptAtMostOnce: (maxRetries ?? 0) > 1,
  });
  const event = { kind: 'edited', detail: { fields: Object.keys(changes) } } as const;
  return inOrder(ids, await changeJobs(tx, statement, event, now, ids, ...values));
}
