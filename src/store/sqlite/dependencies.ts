import { circleAmong, type ParentEnd, suitedBy, whyNot } from '../../core/dependencies.ts';
import { QueueError } from '../../core/errors.ts';
import type { Happening } from '../../core/events.ts';
import type { JobSpec } from '../../core/job.ts';
import type { ParentState } from '../store.ts';
import type { Connection } from './connection.ts';
import { recordOfJob } from './events.ts';
import * as sql from './sql.ts';

/** A job that has ended, or is gone. */
export interface EndedParent {
  number: number;
  id: string;
  end: ParentEnd;
}

/** Ties jobs that were just added to those they wait for, and lets go of those that need not wait. */
export function connect(db: Connection, children: JobSpec[], now: number): void {
  const ended = new Map<number, EndedParent>();
  const parentsOf = new Map<number, number[]>();
  const names = new Map<number, string>();
  let forward = false;
  for (const child of children) {
    const number = db.get(sql.phaseOfJob, child.id)!.number as number;
    const parents: number[] = [];
    for (const [ordinal, { id, on }] of child.dependsOn.entries()) {
      const parent = db.get(sql.phaseOfJob, id);
      if (parent === undefined)
        throw new QueueError('job-not-found', `job '${child.id}' waits for '${id}', which does not exist`);
      const found = parent.number as number;
      db.run(sql.insertDependency, number, found, ordinal, on);
      if (parent.phase === 'ended') ended.set(found, { number: found, id, end: parent.state as ParentEnd });
      parents.push(found);
      forward ||= found >= number;
    }
    parentsOf.set(number, parents);
    names.set(number, child.id);
  }
  // Who waits only for what was there before cannot be part of a circle.
  const circle = forward ? circleAmong(parentsOf) : null;
  if (circle !== null) {
    const path = circle.map((number) => `'${names.get(number)}'`).join(' waits for ');
    throw new QueueError('invalid-job', `jobs wait for each other: ${path}`);
  }
  for (const parent of ended.values()) parentEnded(db, parent, now);
}

/**
 * What the end of a job means for those that wait for it; whom it ends in turn, for those that wait for them. Answers how
 * many it suited.
 */
export function parentEnded(db: Connection, first: EndedParent, now: number): number {
  let suited = 0;
  const ended = [first];
  for (let parent = ended.pop(); parent !== undefined; parent = ended.pop()) {
    const wants = JSON.stringify(suitedBy(parent.end));
    if (db.run(sql.unblock, now, now, now, parent.number, wants) > 0)
      suited += db.run(sql.meetDependencies, parent.number, wants);
    const disappointed = db.all(sql.disappointed, parent.number);
    if (disappointed.length === 0) continue;
    db.run(sql.failDependencies, parent.number);
    const why = whyNot(parent.id, parent.end);
    for (const row of disappointed) {
      const number = row.child as number;
      db.run(sql.dropBlocker, number);
      const id = row.id as string;
      if (row.policy === 'hold') {
        if (db.run(sql.holdBlocked, why, now, number) === 1) recordOfJob(db, happening('held', why), id);
      } else if (db.run(sql.cancelJob, now, now, why, number) === 1) {
        recordOfJob(db, happening('cancelled', why), id);
        ended.push({ number, id, end: 'cancelled' });
      }
    }
  }
  return suited;
}

function happening(kind: 'held' | 'cancelled', error: string): Happening {
  return { kind, detail: { error } };
}

/** Of a job that may run again: what it could not wait for any longer, and can now, it waits for again. */
export function waitAgain(db: Connection, id: string): void {
  const reopened = db.run(sql.reopenDependencies, id);
  if (reopened > 0) db.run(sql.blockAgain, reopened, id);
}

export function dependenciesOf(db: Connection, id: string): ParentState[] {
  const wanted = JSON.parse((db.get(sql.jobById, id)?.depends_on as string | null | undefined) ?? '[]');
  return db.all(sql.dependenciesOfJob, id).map((row) => ({
    ...wanted[row.ordinal as number],
    phase: row.phase as ParentState['phase'],
    state: row.state as ParentState['state'],
  }));
}
