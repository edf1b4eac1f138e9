import { QueueError } from '../../core/errors.ts';
import {
  type ParentEnd,
  parentEndError,
  refuseCycle,
  SATISFIED_CONDITIONS,
} from '../../core/jobs/dependencies.ts';
import type { Dependency } from '../../core/jobs/job.ts';
import { toPolicy } from '../rows.ts';
import {
  all,
  type ChangedJob,
  type Engine,
  nothing,
  run,
  type Steps,
  statementsOf,
  together,
} from '../steps.ts';
import { UNIQUE_SLOT_OF_ENDED } from './jobs.ts';

/** A parent job that has ended or was deleted. The transaction holds its lock. */
export interface EndedParent {
  number: number;
  id: string;
  end: ParentEnd;
  /** The time at which it ended. */
  at: number;
}

/** Dependencies are inserted in batches of at most this many, so that no statement runs for long. */
const ROWS_AT_ONCE = 10_000;

export const dependencyStatements = statementsOf((dialect) => {
  const { isOneOf, isIn, valuesOf, rowsOf, jobChange, forChange } = dialect;
  /**
   * Compares the numbers of jobs with a list that may be long. The list is hashed. A second condition like that of an index would make
   * PostgreSQL before version 17 search the whole list for each row.
   */
  const isListed = (column: string, list: string): string =>
    `CASE WHEN ${column} IN (SELECT value FROM ${valuesOf(list, 'bigint')}) THEN true END`;
  const setPhase = (phase: string): string => `UPDATE dependency SET phase = '${phase}'
    WHERE parent = $1 AND phase = 'open' AND ${isListed('child', '$2')}`;
  const openChildren = `SELECT child FROM dependency WHERE ${isOneOf('parent', '$1')} AND dependency.phase = 'open'`;
  const failedChildren = `SELECT child FROM dependency WHERE ${isOneOf('parent', '$1')} AND dependency.phase = 'failed'`;
  const lock = (jobs: string): string =>
    `SELECT number, phase FROM job WHERE ${isIn('number', jobs)} ORDER BY number${forChange}`;
  return {
    childrenToAdd: `SELECT number, id, depends_on FROM job WHERE ${isOneOf('id', '$1')}`,
    insertDependencies: `INSERT INTO dependency (child, parent, ordinal, wants, phase)
      SELECT child, parent, ordinal, wants, 'open'
      FROM ${rowsOf('$1', { child: 'bigint', parent: 'bigint', ordinal: 'bigint', wants: 'text' })}`,
    parentsWithDependents: `SELECT DISTINCT parent FROM dependency WHERE ${isOneOf('parent', '$1')} AND phase = 'open'`,
    /** Locks the jobs that wait for one of these. The parents are locked, so none is added meanwhile. */
    lockDependentsOfAll: lock(openChildren),
    dependentsOf: `SELECT job.number, wants, job.phase, policy
      FROM dependency JOIN job ON job.number = dependency.child
      WHERE parent = $1 AND dependency.phase = 'open' ORDER BY child`,
    /** Makes blocked children ready or waiting when their last parent has ended. Held and ended children keep their phase. */
    unblock: `UPDATE job SET blockers = blockers - 1, due_at = CASE WHEN due_at < $2 THEN $2 ELSE due_at END,
      updated_at = CASE WHEN phase = 'ended' THEN updated_at ELSE $2 END,
      phase = CASE WHEN blockers > 1 OR phase <> 'blocked' THEN phase WHEN due_at > $2 THEN 'waiting' ELSE 'ready' END
      WHERE ${isOneOf('number', '$1')}`,
    meetDependencies: setPhase('met'),
    failDependencies: setPhase('failed'),
    holdBlocked: jobChange({
      where: isOneOf('number', '$6'),
      set: "phase = 'held', last_error = $7, updated_at = $5, blockers = blockers - 1",
    }),
    cancelBlocked: jobChange({
      where: isOneOf('number', '$6'),
      set: `state = 'cancelled', phase = 'ended', due_at = NULL, finished_at = $5, updated_at = $5, last_error = $7,
        blockers = blockers - 1, unique_slot = ${UNIQUE_SLOT_OF_ENDED}`,
      isDrop: true,
    }),
    explainHold: `UPDATE job SET last_error = $2, blockers = blockers - 1 WHERE ${isOneOf('number', '$1')}`,

    numbersOfJobs: `SELECT number FROM job WHERE ${isOneOf('id', '$1')}`,
    /** Locks the parents of these jobs, so that none of them ends before their dependencies are reopened. */
    lockParentsOf: lock(`SELECT parent FROM dependency WHERE ${isOneOf('child', '$1')}`),
    reopenParents: `UPDATE dependency SET phase = 'open'
      WHERE ${isOneOf('child', '$1')} AND ${isListed('parent', '$2')} AND phase <> 'open' RETURNING child AS number`,
    lockFailedChildren: lock(failedChildren),
    reopenChildren: `UPDATE dependency SET phase = 'open'
      WHERE ${isOneOf('parent', '$1')} AND phase = 'failed' AND ${isListed('child', '$2')} RETURNING child AS number`,
    blockAgain: `UPDATE job SET phase = CASE WHEN phase = 'held' THEN 'held' ELSE 'blocked' END,
      blockers = (SELECT count(*) FROM dependency WHERE child = job.number AND dependency.phase = 'open')
      WHERE ${isOneOf('number', '$1')}`,
  };
});

/**
 * Adds the dependencies of new jobs, and handles the parents that have already ended. `keyHolders` maps the id of a job that
 * was not added, because its unique key is taken, to the id of the job that has the key.
 */
export function* addDependencies(
  db: Engine,
  childIds: string[],
  keyHolders: ReadonlyMap<string, string>,
  now: number,
): Steps<void> {
  const sql = dependencyStatements(db.dialect);
  const children = yield* readChildren(db, childIds);
  const parents = yield* lockParents(db, children, keyHolders);
  const ids = new Map(children.map((child) => [child.number, child.id]));
  const parentsOf = new Map<number, number[]>();
  const rows: NewDependency[] = [];
  const endedParents = new Map<number, EndedParent>();
  let dependsOnNewer = false;
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
      dependsOnNewer ||= parent.number >= number;
    }
    parentsOf.set(number, numbers);
  }
  // Every job of a cycle is new, because a job depends only on jobs that exist when it is added. One of them depends on a newer one.
  if (dependsOnNewer) refuseCycle(parentsOf, (number) => ids.get(number)!);
  for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
    yield* run(sql.insertDependencies, JSON.stringify(rows.slice(at, at + ROWS_AT_ONCE)));
  yield* handleParentEnds(db, [...endedParents.values()]);
}

interface NewChild {
  number: number;
  id: string;
  dependsOn: Dependency[];
}

/** Returns the new jobs in the order of their ids in the list. */
function* readChildren({ dialect }: Engine, ids: string[]): Steps<NewChild[]> {
  const { childrenToAdd } = dependencyStatements(dialect);
  const rows = yield* all<{ number: number; id: string; depends_on: string }>(childrenToAdd, ids);
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
function* lockParents(
  { dialect }: Engine,
  children: NewChild[],
  keyHolders: ReadonlyMap<string, string>,
): Steps<Map<string, Parent>> {
  const ids = new Set<string>();
  for (const { dependsOn } of children)
    for (const { id } of dependsOn) {
      ids.add(id);
      const holder = keyHolders.get(id);
      if (holder !== undefined) ids.add(holder);
    }
  const parents = yield* all<Parent>(dialect.lockParents, [...ids]);
  return new Map(parents.map((parent) => [parent.id, parent]));
}

interface NewDependency {
  child: number;
  parent: number;
  ordinal: number;
  wants: Dependency['on'];
}

/**
 * Unblocks, holds or cancels the jobs that depend on jobs that have ended, and likewise the dependents of those that it
 * cancels. Returns how many dependencies were met, and the ids of the cancelled jobs. The children of all parents are locked
 * before any of them is changed, because two transactions that lock the same jobs in different orders would be a deadlock.
 */
export function* handleParentEnds(
  db: Engine,
  ended: EndedParent[],
): Steps<{ met: number; cancelled: string[] }> {
  const sql = dependencyStatements(db.dialect);
  let met = 0;
  const cancelled: string[] = [];
  for (let parents = ended; parents.length > 0; ) {
    const numbers = parents.map((parent) => parent.number);
    const [, rows] = yield* together(
      all(sql.lockDependentsOfAll, numbers),
      all(sql.parentsWithDependents, numbers),
    );
    const waitedFor = new Set(rows.map((row) => row.parent));
    const next: EndedParent[] = [];
    for (const parent of parents) {
      if (!waitedFor.has(parent.number)) continue;
      const result = yield* handleParentEnd(db, parent);
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
function* handleParentEnd(
  db: Engine,
  { number, id, end, at }: EndedParent,
): Steps<{ met: number; cancelled: EndedParent[] }> {
  const sql = dependencyStatements(db.dialect);
  const dependents = yield* all<Dependent>(sql.dependentsOf, number);
  const detail = { error: parentEndError(id, end) };
  const groups = groupByEffect(dependents, SATISFIED_CONDITIONS[end]);
  const { satisfied, held, stillHeld, cancelled } = groups;
  const unsatisfied = [...held, ...cancelled, ...stillHeld];
  const [cancelledJobs] = yield* together(
    cancelled.length === 0
      ? nothing<ChangedJob[]>([])
      : db.changeJobs(sql.cancelBlocked, { kind: 'cancelled', detail }, at, cancelled, detail.error),
    held.length === 0
      ? nothing<ChangedJob[]>([])
      : db.changeJobs(sql.holdBlocked, { kind: 'held', detail }, at, held, detail.error),
    stillHeld.length === 0 ? nothing(0) : run(sql.explainHold, stillHeld, detail.error),
    satisfied.length === 0 ? nothing(0) : run(sql.unblock, satisfied, at),
    satisfied.length === 0 ? nothing(0) : run(sql.meetDependencies, number, satisfied),
    unsatisfied.length === 0 ? nothing(0) : run(sql.failDependencies, number, unsatisfied),
  );
  const children = cancelledJobs.map((job): EndedParent => ({ ...job, end: 'cancelled', at }));
  return { met: satisfied.length, cancelled: children };
}

/** Groups the children of a parent by the effect of its end on them. Returns the numbers of the jobs. */
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
export function* reopenDependencies({ dialect }: Engine, ids: string[]): Steps<void> {
  const sql = dependencyStatements(dialect);
  const numbers = (yield* all<LockedJob>(sql.numbersOfJobs, ids)).map((row) => row.number);
  const [parents, children] = yield* together(
    all<LockedJob>(sql.lockParentsOf, numbers),
    all<LockedJob>(sql.lockFailedChildren, numbers),
  );
  function* reopen(statement: string, others: LockedJob[]): Steps<void> {
    if (others.length === 0) return;
    const otherNumbers = others.map((job) => job.number);
    const rows = yield* all<LockedJob>(statement, numbers, otherNumbers);
    const blocked = [...new Set(rows.map((row) => row.number))];
    if (blocked.length > 0) yield* run(sql.blockAgain, blocked);
  }
  yield* reopen(
    sql.reopenParents,
    parents.filter((job) => job.phase !== 'ended'),
  );
  yield* reopen(
    sql.reopenChildren,
    children.filter((job) => job.phase !== 'ended' && job.phase !== 'running'),
  );
}

interface LockedJob {
  number: number;
  phase: string;
}
