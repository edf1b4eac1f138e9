import { editableFields } from '../../core/jobs/field-list.ts';
import type { State } from '../../core/jobs/job.ts';
import type { JobChanges } from '../../core/jobs/job-changes.ts';
import { attemptEndingEvent, type NewEvent } from '../../core/rules/events.ts';
import type { CancelledJobs, JobActionStore, RemovedJobs } from '../contract/job-actions.ts';
import { columnValue } from '../new-rows.ts';
import type { SqlValue } from '../row.ts';
import {
  all,
  type ChangedJob,
  type Dialect,
  type Engine,
  get,
  type JobStatements,
  recordAttemptEvent,
  run,
  type Steps,
  statementsOf,
  together,
} from '../steps.ts';
import { handleParentEnds, reopenDependencies } from './dependencies.ts';
import { UNIQUE_SLOT_OF_ENDED } from './jobs.ts';
import { queueNumbers } from './queues.ts';

/** Matches the other job that has the unique key. A key with a time limit is not taken again. */
const HAS_KEY =
  'job.unique_until IS NULL AND other.unique_slot = job.unique_key AND other.number <> job.number';

/** A change of jobs uses $5 for its time, and $6 for the ids of the jobs. */
export const jobActionStatements = statementsOf((dialect) => {
  const { isOneOf, isIn, jobChange, jobRemoval, forChange, isAtMostOnce } = dialect;
  const isRemovable = (ids: string, states: string): string =>
    `${isOneOf('id', ids)} AND phase <> 'running' AND ${isOneOf('state', states)}`;
  return {
    /**
     * Locks jobs, so that the statements after it all find them in the same state. Returns them as they are now. Subqueries of one
     * statement would not see what a transaction has committed for which that statement had to wait.
     */
    lockJobs: `SELECT number, id, phase FROM job WHERE ${isOneOf('id', '$1')} ORDER BY number${forChange}`,
    /** Reads the unique keys that jobs take again when they are retried. */
    keysOfJobs: `SELECT id, unique_key AS key FROM job
      WHERE ${isOneOf('id', '$1')} AND unique_key IS NOT NULL AND unique_until IS NULL`,
    /** Frees unique keys whose time limit is over. */
    freeExpiredSlots: `UPDATE job SET unique_slot = NULL WHERE ${isOneOf('unique_slot', '$1')} AND unique_until <= $2`,
    retryJobs: jobChange({
      where: `${isOneOf('id', '$6')} AND phase <> 'running' AND ${isOneOf('state', '$7')}
        AND NOT (CAST($8 AS bigint) = 1 AND started_at IS NOT NULL AND ${isAtMostOnce})
        AND NOT EXISTS (SELECT 1 FROM job AS other WHERE ${HAS_KEY})`,
      set: `state = 'pending', phase = CASE WHEN phase = 'held' THEN 'held' WHEN blockers > 0 THEN 'blocked' ELSE 'ready' END,
        attempts = 0, crashes = 0, due_at = $5, updated_at = $5, finished_at = NULL, exit_code = NULL, last_error = NULL,
        duration_ms = NULL, unique_slot = CASE WHEN unique_until IS NULL THEN unique_key ELSE unique_slot END`,
    }),
    keyHolder: `SELECT other.id FROM job JOIN job AS other ON ${HAS_KEY}
      WHERE job.id = $1 AND ${isOneOf('job.state', '$2')} AND coalesce(other.unique_until > $3, true)`,
    attemptsOfRemovable: `SELECT number FROM attempt
      WHERE ${isIn('job', `SELECT number FROM job WHERE ${isRemovable('$1', '$2')}`)} ORDER BY number`,
    removeJobs: jobRemoval(isRemovable('$6', '$7')),
    /** Cancels jobs that are not running. A unique key without a time limit is free again. */
    cancelJobs: jobChange({
      where: `${isOneOf('id', '$6')} AND phase NOT IN ('running', 'ended')`,
      set: `state = 'cancelled', phase = 'ended', due_at = NULL, finished_at = $5, updated_at = $5, last_error = $7,
        unique_slot = ${UNIQUE_SLOT_OF_ENDED}`,
      isDrop: true,
    }),
    /** Locks the attempts of running jobs. */
    runningAttempts: `SELECT attempt.number, end_reason AS "endReason" FROM job JOIN attempt ON attempt.number = job.attempt
      WHERE ${isOneOf('id', '$1')} AND phase = 'running' AND attempt.finished_at IS NULL ORDER BY job.number${forChange}`,
    /** Requests the end of an attempt. A signal that was wished before the cancel is not its first signal. */
    cancelAttempt: `UPDATE attempt SET signal = coalesce($1, CASE WHEN end_reason = 'cancelled' THEN signal END),
      end_reason = 'cancelled' WHERE number = $2`,
    wishSignal: `UPDATE attempt SET signal = $1 WHERE end_reason IS NULL AND finished_at IS NULL
      AND ${isIn('number', `SELECT attempt FROM job WHERE ${isOneOf('id', '$2')} AND phase = 'running'`)} RETURNING job`,
    holdJobs: jobChange({
      where: `${isOneOf('id', '$6')} AND phase IN ('ready', 'waiting', 'blocked')`,
      set: "phase = 'held', updated_at = $5",
    }),
    /** Releases jobs. Their wait begins now at the earliest, because the time on hold does not count. */
    releaseJobs: jobChange({
      where: `${isOneOf('id', '$6')} AND phase = 'held'`,
      set: `due_at = CASE WHEN due_at < $5 THEN $5 ELSE due_at END, updated_at = $5,
        phase = CASE WHEN blockers > 0 THEN 'blocked' WHEN due_at > $5 THEN 'waiting' ELSE 'ready' END,
        last_error = CASE WHEN state = 'pending' THEN NULL ELSE last_error END`,
    }),
    editJobs: (edit: Edit): JobStatements => editJobs(dialect, edit),
  };
});

interface Edit {
  /** The columns that change. $7 is the value of the first one. */
  columns: string[];
  /** Tells whether the value after those of the columns is the time at which the jobs become due. */
  setsDue: boolean;
  /** Leaves out at-most-once jobs. */
  exceptAtMostOnce: boolean;
}

/** Returns a statement that changes some columns of jobs. */
function editJobs({ isOneOf, jobChange, isAtMostOnce }: Dialect, edit: Edit): JobStatements {
  const { columns, setsDue, exceptAtMostOnce } = edit;
  const set = ['updated_at = $5', ...columns.map((column, i) => `${column} = $${i + 7}`)];
  const due = `CAST($${columns.length + 7} AS bigint)`;
  if (setsDue)
    set.push(
      `due_at = ${due}`,
      `phase = CASE WHEN phase IN ('held', 'blocked') THEN phase WHEN ${due} > $5 THEN 'waiting' ELSE 'ready' END`,
    );
  // A new command also replaces `argv`.
  if (columns.includes('command')) set.push('argv = NULL');
  const where = `${isOneOf('id', '$6')} AND phase NOT IN ('running', 'ended')`;
  return jobChange({
    where: exceptAtMostOnce ? `${where} AND NOT ${isAtMostOnce}` : where,
    set: set.join(', '),
  });
}

/** The WHERE clauses hold the conditions for a change, so a job that can no longer be changed is left as it is. */
export function jobActionPart(db: Engine): JobActionStore {
  const sql = jobActionStatements(db.dialect);
  return {
    retry: (ids, from, now, bulk = false) =>
      // Another job may take a unique key after the statement has begun. If the work is repeated, it finds that job.
      db.write('retry', () => retry(db, ids, from, now, bulk), { repeatsAfter: 'unique-key' }),
    keyHolder: async (id, from, now) =>
      (await db.read(() => get<{ id: string }>(sql.keyHolder, id, from, now)))?.id ?? null,
    remove: (ids, from, now) => db.write('remove', () => remove(db, ids, from, now), { usesBallast: true }),
    cancel: (ids, now, signal) =>
      db.write('cancel', () => cancel(db, ids, now, signal ?? null), { usesBallast: true }),
    wishSignal: (ids, signal) => db.write('wishSignal', () => wishSignal(db, ids, signal)),
    hold: (ids, now) => db.write('hold', () => change(db, sql.holdJobs, { kind: 'held' }, ids, now)),
    release: (ids, now) =>
      db.write('release', function* (): Steps<string[]> {
        const released = yield* change(db, sql.releaseJobs, { kind: 'released' }, ids, now);
        yield* reopenDependencies(db, released);
        return released;
      }),
    edit: (ids, changes, now) =>
      // A queue may be removed after its number was read.
      db.write('edit', () => edit(db, ids, changes, now), { repeatsAfter: 'foreign-key' }),
  };
}

/** Returns the ids of the changed jobs in the order in which the caller gave them. */
function inOrder(ids: string[], changed: Pick<ChangedJob, 'id'>[]): string[] {
  const found = new Set(changed.map((job) => job.id));
  return [...new Set(ids)].filter((id) => found.has(id));
}

/** Changes jobs, and returns the ids of those that were changed. */
function* change(
  db: Engine,
  statements: JobStatements,
  event: NewEvent,
  ids: string[],
  now: number,
  ...values: SqlValue[]
): Steps<string[]> {
  return inOrder(ids, yield* db.changeJobs(statements, event, now, ids, ...values));
}

/** Makes all jobs pending before it blocks any of them again, so that each job of a chain waits for its parent. */
function* retry(
  db: Engine,
  ids: string[],
  from: readonly State[],
  now: number,
  bulk: boolean,
): Steps<string[]> {
  const sql = jobActionStatements(db.dialect);
  const [, rows] = yield* together(
    all(sql.lockJobs, ids),
    all<{ id: string; key: string }>(sql.keysOfJobs, ids),
  );
  const keys = new Map(rows.map(({ id, key }) => [id, key]));
  if (keys.size > 0) yield* run(sql.freeExpiredSlots, [...keys.values()], now);
  const changed: ChangedJob[] = [];
  for (const part of splitByKey(ids, keys))
    changed.push(
      ...(yield* db.changeJobs(sql.retryJobs, { kind: 'retried' }, now, part, from, bulk ? 1 : 0)),
    );
  const changedIds = inOrder(ids, changed);
  yield* reopenDependencies(db, changedIds);
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

function* remove(db: Engine, ids: string[], from: readonly State[], now: number): Steps<RemovedJobs> {
  const sql = jobActionStatements(db.dialect);
  const [, attempts, removed] = yield* together(
    all(sql.lockJobs, ids),
    all<{ number: number }>(sql.attemptsOfRemovable, ids, from),
    db.changeJobs(sql.removeJobs, { kind: 'deleted' }, now, ids, from),
  );
  const dependents = yield* handleEnds(db, removed, 'deleted', now);
  return { ids: inOrder(ids, removed), attempts: attempts.map((one) => one.number), dependents };
}

/** Handles the end of jobs on which others may depend. Returns the ids of the dependents that were cancelled. */
function* handleEnds(
  db: Engine,
  jobs: ChangedJob[],
  end: 'cancelled' | 'deleted',
  at: number,
): Steps<string[]> {
  const parents = jobs.map(({ number, id }) => ({ number, id, end, at }));
  return (yield* handleParentEnds(db, parents)).cancelled;
}

function* cancel(
  db: Engine,
  ids: string[],
  now: number,
  signal: NodeJS.Signals | null,
): Steps<CancelledJobs> {
  const sql = jobActionStatements(db.dialect);
  const [found, cancelled, running] = yield* together(
    all<{ id: string; phase: string }>(sql.lockJobs, ids),
    db.changeJobs(sql.cancelJobs, { kind: 'cancelled' }, now, ids, 'cancelled before it ran'),
    all<{ number: number; endReason: string | null }>(sql.runningAttempts, ids),
  );
  yield* together(
    ...running.map(({ number }) => run(sql.cancelAttempt, signal, number)),
    ...running
      .filter(({ endReason }) => endReason !== 'cancelled')
      .map(({ number }) => recordAttemptEvent(db, attemptEndingEvent('cancelled'), number)),
  );
  const phases = new Map(found.map(({ id, phase }) => [id, phase]));
  const inPhase = (phase: string): string[] => [...new Set(ids)].filter((id) => phases.get(id) === phase);
  const dependents = yield* handleEnds(db, cancelled, 'cancelled', now);
  return {
    cancelled: inOrder(ids, cancelled),
    ending: inPhase('running'),
    ended: inPhase('ended'),
    dependents,
  };
}

function* wishSignal({ dialect }: Engine, ids: string[], signal: NodeJS.Signals): Steps<string[]> {
  const sql = jobActionStatements(dialect);
  const [jobs, wished] = yield* together(
    all<{ number: number; id: string }>(sql.lockJobs, ids),
    all<{ job: number }>(sql.wishSignal, signal, ids),
  );
  const numbers = new Set(wished.map(({ job }) => job));
  return inOrder(
    ids,
    jobs.filter(({ number }) => numbers.has(number)),
  );
}

function* edit(db: Engine, ids: string[], changes: JobChanges, now: number): Steps<string[]> {
  const { runAt, maxRetries, queue } = changes;
  const number = queue === undefined ? null : (yield* queueNumbers(db, [queue])).get(queue)!;
  const fields = editableFields().filter((field) => changes[field.key as keyof JobChanges] !== undefined);
  const values = fields.map((field): SqlValue => {
    const value = changes[field.key as keyof JobChanges];
    return field.key === 'queue' ? number : columnValue(value);
  });
  // A time in the past makes the job due now, because it did not wait before.
  if (runAt !== undefined) values.push(Math.max(runAt ?? now, now));
  const statements = jobActionStatements(db.dialect).editJobs({
    columns: fields.map((field) => field.name),
    setsDue: runAt !== undefined,
    exceptAtMostOnce: (maxRetries ?? 0) > 1,
  });
  const event: NewEvent = { kind: 'edited', detail: { fields: Object.keys(changes) } };
  return yield* change(db, statements, event, ids, now, ...values);
}
