import { QueueError } from '../../core/errors.ts';
import {
  type ParentEnd,
  parentEndError,
  refuseCycle,
  SATISFIED_CONDITIONS,
} from '../../core/jobs/dependencies.ts';
import type { Dependency } from '../../core/jobs/job.ts';
import type { Connection } from './connection.ts';
import { recordKnownJobEvent } from './record-events.ts';
import * as sql from './sql/dependencies.ts';
import { newTally } from './tally.ts';

/** A parent job that has ended or was deleted. */
export interface EndedParent {
  number: number;
  id: string;
  end: ParentEnd;
}

/**
 * Adds the dependencies of new jobs, and handles the parents that have already ended. `keyHolders` maps the id of a job that
 * was not added, because its unique key is taken, to the id of the job that has the key.
 */
export function addDependencies(
  db: Connection,
  childIds: string[],
  keyHolders: ReadonlyMap<string, string>,
  now: number,
): void {
  const endedParents = new Map<number, EndedParent>();
  let firstChild = Number.POSITIVE_INFINITY;
  let dependsOnNewer = false;
  for (const child of childIds) {
    const row = db.get(sql.jobSummary, child)!;
    const number = row.number as number;
    firstChild = Math.min(firstChild, number);
    const parents = JSON.parse(row.depends_on as string) as Dependency[];
    for (const [ordinal, { id, on }] of parents.entries()) {
      const parent = db.get(sql.jobSummary, id) ?? db.get(sql.jobSummary, keyHolders.get(id) ?? '');
      if (parent === undefined)
        throw new QueueError('job-not-found', `job '${child}' depends on '${id}', which does not exist`);
      const parentNumber = parent.number as number;
      if (db.run(sql.insertDependency, number, parentNumber, ordinal, on) === 0)
        throw new QueueError('invalid-job', `job '${child}' depends on '${id}' twice, under two names`);
      if (parent.phase === 'ended')
        endedParents.set(parentNumber, { number: parentNumber, id, end: parent.state as ParentEnd });
      dependsOnNewer ||= parentNumber >= number;
    }
  }
  // A job that depends only on older jobs cannot be part of a cycle.
  if (dependsOnNewer)
    refuseCycle(parentsOfJobsFrom(db, firstChild), (number) => db.get(sql.idOfJob, number)!.id as string);
  for (const parent of endedParents.values()) handleParentEnd(db, parent, now);
}

/** Returns the parents of each job with at least this number. */
function parentsOfJobsFrom(db: Connection, first: number): Map<number, number[]> {
  const rows = db.all<{ child: number; parents: string }>(sql.parentsOfJobsFrom, first);
  return new Map(rows.map(({ child, parents }) => [child, JSON.parse(parents) as number[]]));
}

/**
 * Unblocks, holds or cancels the jobs that depend on a job that has ended, and likewise the dependents of those that it
 * cancels. Returns how many dependencies were met, and the ids of the cancelled jobs.
 */
export function handleParentEnd(db: Connection, first: EndedParent, now: number) {
  let met = 0;
  const cancelled: string[] = [];
  const endedParents = [first];
  const figures = newTally(db);
  for (let parent = endedParents.pop(); parent !== undefined; parent = endedParents.pop()) {
    const { number, id, end } = parent;
    // Most jobs have no dependents, so their end costs only this lookup.
    if (db.get(sql.anyDependent, number) === undefined) continue;
    const satisfied = JSON.stringify(SATISFIED_CONDITIONS[end]);
    if (db.run(sql.unblock, now, now, now, number, satisfied) > 0)
      met += db.run(sql.meetDependencies, number, satisfied);
    if (db.get(sql.anyDependent, number) === undefined) continue;
    const error = parentEndError(id, end);
    for (const held of db.all(sql.holdBlocked, error, now, number))
      recordKnownJobEvent(db, { kind: 'held', detail: { error } }, held.id as string, held.queue as number);
    db.run(sql.explainHold, error, number);
    for (const child of db.all(sql.cancelBlocked, now, now, error, number)) {
      const ended: EndedParent = { number: child.number as number, id: child.id as string, end: 'cancelled' };
      recordKnownJobEvent(db, { kind: 'cancelled', detail: { error } }, ended.id, child.queue as number);
      endedParents.push(ended);
      cancelled.push(ended.id);
      figures.countDropped(ended.number);
    }
    db.run(sql.decrementBlockers, number);
    db.run(sql.failDependencies, number);
  }
  figures.write(now);
  return { met, cancelled };
}

/** Makes a retried or released job wait again for its unfinished parents, and its waiting children wait again for it. */
export function reopenDependencies(db: Connection, id: string): void {
  if (db.run(sql.reopenParents, id) > 0) db.run(sql.blockAgain, id);
  for (const { child } of db.all(sql.reopenChildren, id)) db.run(sql.blockChild, child as number);
}

/** Returns the ids of the jobs that `handleParentEnd` would cancel if these jobs were cancelled or deleted, but at most `most`. */
export function cancelledWith(db: Connection, ids: string[], end: 'cancelled' | 'deleted', most: number) {
  const seen = new Set<number>();
  const parents: { number: number; end: ParentEnd }[] = [];
  for (const id of ids) {
    const job = db.get(sql.jobSummary, id);
    // A running job cannot be deleted, and the end of a job that has ended cancels nothing more.
    if (job === undefined || job.phase === 'ended' || (end === 'deleted' && job.phase === 'running'))
      continue;
    seen.add(job.number as number);
    parents.push({ number: job.number as number, end });
  }
  const cancelled: { number: number; id: string }[] = [];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    const satisfied = JSON.stringify(SATISFIED_CONDITIONS[parent.end]);
    for (const row of db.each(sql.cancelledChildren, parent.number, satisfied)) {
      if (cancelled.length >= most) break;
      const number = row.number as number;
      if (seen.has(number)) continue;
      seen.add(number);
      cancelled.push({ number, id: row.id as string });
      parents.push({ number, end: 'cancelled' });
    }
    if (cancelled.length >= most) break;
  }
  return cancelled.sort((a, b) => a.number - b.number).map((job) => job.id);
}
