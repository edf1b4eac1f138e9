import { QueueError } from '../../core/errors.ts';
import {
  type ParentEnd,
  parentEndError,
  refuseCycle,
  SATISFIED_CONDITIONS,
} from '../../core/jobs/dependencies.ts';
import type { Dependency } from '../../core/jobs/job.ts';
import { toPolicy } from '../rows.ts';
import { changeJobs } from './change-jobs.ts';
import * as sql from './sql/dependencies.ts';
import type { Transaction } from './transaction.ts';

/** A parent job that has ended or was deleted. The transaction holds its lock. */
export interface EndedParentAt {
  number: number;
  id: string;
  end: ParentEnd;
  /** When it ended. */
  at: number;
}

/** Dependencies are inserted in batches of at most this many, so that no statement runs for long. */
const ROWS_AT_ONCE = 10_000;

/**
 * Adds the dependencies of new jobs, and handles the parents that have already ended. `keyHolders` maps the id of a job that
 * was not added, because its unique key is taken, to the id of the job that has the key.
 */
export async function addDependencies(
  tx: Transaction,
  childIds: string[],
  keyHolders: ReadonlyMap<string, string>,
  now: number,
): Promise<void> {
  const children = await readChildren(tx, childIds);
  const parents = await lockParents(tx, children, keyHolders);
  const ids = new Map(children.map((child) => [child.number, child.id]));
  const parentsOf = new Map<number, number[]>();
  const rows: NewDependency[] = [];
  const endedParents = new Map<number, EndedParentAt>();
  for (const { number, id: child, dependsOn } of children) {
    const numbers: number[] = [];
    for (const [ordinal, { id, on }] of dependsOn.entries()) {
      const parent = parents.get(id) ?? parents.get(keyHolders.get(id) ?? '');
      if (parent === undefined)
        throw new QueueError('job-not-found', `job '${child}' depends on '${id}', which does not exist`);
      if (numbers.includes(parent.number))
        throw new QueueError('invalid-job', `job '${child}' depends on '${id}' twice, under two names`);
      numbers.push(parent.number);
      rows.push({ child: number, parent: parent.number, ordinal, wants: on });
      if (parent.phase === 'ended')
        endedParents.set(parent.number, { number: parent.number, id, end: parent.state, at: now });
    }
    parentsOf.set(number, numbers);
  }
  // Every job of a cycle is new, because a job depends only on jobs that exist when it is added.
  refuseCycle(parentsOf, (number) => ids.get(number)!);
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
    await insertRows(tx, rows.slice(at, at + ROWS_AT_ONCE));
  await handleParentEnds(tx, [...endedParents.values()]);
}

interface NewChild {
  number: number;
  id: string;
  dependsOn: Dependency[];
}

/** Returns the new jobs in the order of their ids in the list. */
async function readChildren(tx: Transaction, ids: string[]): Promise<NewChild[]> {
  const rows = await tx.all<{ number: number; id: string; depends_on: string }>(sql.childrenToAdd, ids);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.map((id) => {
    const { number, depends_on } = byId.get(id)!;
    return { number, id, dependsOn: JSON.parse(depends_on) as Dependency[] };
  });
}

interface Parent {
  number: number;
  id: string;
  phase: string;
  state: ParentEnd;
}

/** Locks the parents of all children, and returns them by id. */
async function lockParents(
  tx: Transaction,
  children: NewChild[],
  keyHolders: ReadonlyMap<string, string>,
): Promise<Map<string, Parent>> {
  const ids = new Set<string>();
  for (const { dependsOn } of children)
    for (const { id } of dependsOn) {
      ids.add(id);
      const holder = keyHolders.get(id);
      if (holder !== undefined) ids.add(holder);
    }
  const parents = await tx.all<Parent>(sql.lockParents, [...ids]);
  return new Map(parents.map((parent) => [parent.id, parent]));
}

interface NewDependency {
  child: number;
  parent: number;
  ordinal: number;
  wants: Dependency['on'];
}

async function insertRows(tx: Transaction, rows: NewDependency[]): Promise<void> {
  const column = (name: keyof NewDependency) => rows.map((row) => row[name]);
  await tx.run(
    sql.insertDependencies,
    ...[column('child'), column('parent'), column('ordinal'), column('wants')],
  );
}

/**
 * Unblocks, holds or cancels the jobs that depend on jobs that have ended, and likewise the dependents of those that it
 * cancels. Returns how many dependencies were met, and the ids of the cancelled jobs. The children of all parents are locked
 * before any of them is changed, because two transactions that lock the same jobs in different orders would be a deadlock.
 */
export async function handleParentEnds(
  tx: Transaction,
  ended: EndedParentAt[],
): Promise<{ met: number; cancelled: string[] }> {
  let met = 0;
  const cancelled: string[] = [];
  for (let parents = ended; parents.length > 0; ) {
    const numbers = parents.map((parent) => parent.number);
    const [, rows] = await Promise.all([
      tx.run(sql.lockDependentsOfAll, numbers),
      tx.all(sql.parentsWithDependents, numbers),
    ]);
    const waitedFor = new Set(rows.map((row) => row.parent));
    const next: EndedParentAt[] = [];
    for (const parent of parents) {
      if (!waitedFor.has(parent.number)) continue;
      const result = await handleParentEnd(tx, parent);
      met += result.met;
      next.push(...result.cancelled);
    }
    cancelled.push(...next.map((child) => child.id));
    parents = next;
  }
  return { met, cancelled };
}

interface Dependent {
  number: number;
  wants: Dependency['on'];
  phase: string;
  policy: string | null;
}

/** Changes the children of one parent. They are locked, so nobody else changes them between these statements. */
async function handleParentEnd(tx: Transaction, { number, id, end, at }: EndedParentAt) {
  const dependents = await tx.all<Dependent>(sql.dependentsOf, number);
  const error = parentEndError(id, end);
  const groups = groupByEffect(dependents, SATISFIED_CONDITIONS[end]);
  const { satisfied, held, cancelled } = groups;
  const unsatisfied = [...held, ...cancelled, ...groups.stillHeld];
  const [cancelledJobs] = await Promise.all([
    cancelled.length === 0
      ? []
      : changeJobs(tx, sql.cancelBlocked, { kind: 'cancelled', detail: { error } }, at, cancelled, error),
    held.length > 0 && changeJobs(tx, sql.holdBlocked, { kind: 'held', detail: { error } }, at, held, error),
    groups.stillHeld.length > 0 && tx.run(sql.explainHold, groups.stillHeld, error),
    satisfied.length > 0 && tx.run(sql.unblock, satisfied, at),
    satisfied.length > 0 && tx.run(sql.meetDependencies, number, satisfied),
    unsatisfied.length > 0 && tx.run(sql.failDependencies, number, unsatisfied),
  ]);
  const children = cancelledJobs.map((job): EndedParentAt => ({ ...job, end: 'cancelled', at }));
  return { met: satisfied.length, cancelled: children };
}

/** Sorts the children of a parent by what its end means for them. Returns the numbers of the jobs. */
function groupByEffect(dependents: Dependent[], conditions: Dependency['on'][]) {
  const groups = { satisfied: [], held: [], stillHeld: [], cancelled: [] } as Record<
    'satisfied' | 'held' | 'stillHeld' | 'cancelled',
    number[]
  >;
  for (const { number, wants, phase, policy } of dependents) {
    const { onParentFailure = 'cancel' } = toPolicy(policy);
    if (conditions.includes(wants) || onParentFailure === 'run' || phase === 'ended')
      groups.satisfied.push(number);
    else if (onParentFailure === 'cancel') groups.cancelled.push(number);
    else groups[phase === 'held' ? 'stillHeld' : 'held'].push(number);
  }
  return groups;
}

/**
 * Makes retried or released jobs wait again for their unfinished parents, and their waiting children wait again for them. The
 * transaction holds the locks of these jobs. Parents are locked after their children here, while the end of a parent locks them
 * in the other order. So a deadlock is possible, after which one of the two transactions is repeated.
 */
export async function reopenDependencies(tx: Transaction, ids: string[]): Promise<void> {
  const numbers = (await tx.all(sql.numbersOfJobs, ids)).map((row) => row.number as number);
  const [parents, children] = await Promise.all([
    tx.all<LockedJob>(sql.lockParentsOf, numbers),
    tx.all<LockedJob>(sql.lockFailedChildren, numbers),
  ]);
  const unfinished = parents.filter((job) => job.phase !== 'ended');
  const waiting = children.filter((job) => job.phase !== 'ended' && job.phase !== 'running');
  const reopen = async (statement: string, others: LockedJob[]): Promise<void> => {
    if (others.length === 0) return;
    const otherNumbers = others.map((job) => job.number);
    const rows = await tx.all(statement, numbers, otherNumbers);
    const blocked = [...new Set(rows.map((row) => row.number as number))];
    if (blocked.length > 0) await tx.run(sql.blockAgain, blocked);
  };
  await reopen(sql.reopenParents, unfinished);
  await reopen(sql.reopenChildren, waiting);
}

interface LockedJob {
  number: number;
  phase: string;
}
