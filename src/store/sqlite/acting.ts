import type { State } from '../../core/job.ts';
import type { JobChanges, Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { queueNumber } from './queues.ts';
import * as sql from './sql.ts';

type ActingVerbs = Pick<Store, 'retry' | 'remove' | 'cancel' | 'hold' | 'release' | 'edit'>;

/** What people do to jobs. Every guard is in a WHERE: what cannot be changed any more is left as it is. */
export function actingVerbs(db: Connection): ActingVerbs {
  type Verb = 'retry' | 'hold' | 'release' | 'edit';
  const each = (verb: Verb, ids: string[], change: (id: string) => number): Promise<string[]> =>
    db.write(verb, () => ids.filter((id) => change(id) === 1));
  return {
    retry: (ids, from, now) =>
      each('retry', ids, (id) => db.run(sql.retryJob, now, now, id, JSON.stringify(from))),
    remove: (ids, from) => db.write('remove', () => remove(db, ids, from)),
    cancel: (ids, now) => db.write('cancel', () => cancel(db, ids, now)),
    hold: (ids, now) => each('hold', ids, (id) => db.run(sql.holdJob, now, id)),
    release: (ids, now) => each('release', ids, (id) => db.run(sql.releaseHeld, now, now, id)),
    edit: (ids, changes, now) => each('edit', ids, (id) => edit(db, id, changes, now)),
  };
}

function remove(
  db: Connection,
  ids: string[],
  from: readonly State[],
): { ids: string[]; attempts: number[] } {
  const removed = { ids: [] as string[], attempts: [] as number[] };
  for (const id of ids) {
    const attempts = db.all(sql.attemptNumbers, id).map((row) => row.number as number);
    if (db.run(sql.deleteJob, id, JSON.stringify(from)) === 0) continue;
    removed.ids.push(id);
    removed.attempts.push(...attempts);
  }
  return removed;
}

function cancel(
  db: Connection,
  ids: string[],
  now: number,
): { cancelled: string[]; ending: string[]; ended: string[] } {
  const result = { cancelled: [] as string[], ending: [] as string[], ended: [] as string[] };
  for (const id of ids) {
    const job = db.get(sql.phaseOfJob, id);
    if (job === undefined) continue;
    if (job.phase === 'running') {
      db.run(sql.cancelAttempt, job.attempt as number);
      result.ending.push(id);
    } else if (db.run(sql.cancelJob, now, now, job.number as number) === 1) result.cancelled.push(id);
    else result.ended.push(id);
  }
  return result;
}

function edit(db: Connection, id: string, changes: JobChanges, now: number): number {
  const { priority, queue, command, timeoutMs, maxRetries, tags, name, runAt } = changes;
  const due = runAt === undefined ? null : (runAt ?? now);
  return db.run(
    sql.editJob,
    ...[
      priority ?? null,
      queue === undefined ? null : queueNumber(db, queue),
      command ?? null,
      command ?? null,
    ],
    ...[timeoutMs === undefined ? 0 : 1, timeoutMs ?? null, maxRetries ?? null],
    ...[tags === undefined ? 0 : 1, tags === undefined ? null : JSON.stringify(tags)],
    ...[name === undefined ? 0 : 1, name ?? null, runAt ?? null, due, due, due, now, now, id],
  );
}
