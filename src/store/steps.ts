import type { State } from '../core/jobs/job.ts';
import type { EventDetail, NewEvent } from '../core/rules/events.ts';
import type { JobOrder } from './claim-order.ts';
import type { ExportedFilePart } from './contract/care.ts';
import type { Agenda, ClaimRequest, Settlement } from './contract/claims.ts';
import type { NewWorker } from './contract/workers.ts';
import type { QueuedSpec } from './new-rows.ts';
import type { Room } from './parts/claims.ts';
import type { Row, Value } from './row.ts';
import type { Store } from './store.ts';
import type { SavedTable } from './tables.ts';

/** One statement of a transaction. Parameters are $1, $2 and so on. */
export interface Statement {
  how: 'get' | 'all' | 'run';
  sql: string;
  values: Value[];
}

/**
 * The work of a transaction, written once for all engines. An engine runs each statement that is yielded. One runs it at once, so
 * that no transaction waits, and another sends it to a server. Steps in an array are sent together. A function is work that each
 * engine does in its own way. It is called with what the engine runs statements on.
 */
export type Steps<T> = Generator<Statement | Steps<unknown>[] | ((on: never) => unknown), T, never>;

/** Returns the first row. */
export function* get<T = Row>(sql: string, ...values: Value[]): Steps<T | undefined> {
  return yield { how: 'get', sql, values };
}

export function* all<T = Row>(sql: string, ...values: Value[]): Steps<T[]> {
  return yield { how: 'all', sql, values };
}

/** Returns the number of changed rows. */
export function* run(sql: string, ...values: Value[]): Steps<number> {
  return yield { how: 'run', sql, values };
}

/** Runs steps that do not need each other's answers, in this order. */
export function* together<T extends Steps<unknown>[]>(
  ...steps: T
): Steps<{ [I in keyof T]: T[I] extends Steps<infer R> ? R : never }> {
  return yield steps;
}

/** Takes the place of a statement that is not needed. */
export function* nothing<T>(result: T): Steps<T> {
  yield [];
  return result;
}

/** Runs work that an engine does in its own way. */
export function* native<On, T>(work: (on: On) => T | Promise<T>): Steps<T> {
  return yield work;
}

/** The texts that differ between the engines. */
export interface Dialect {
  /** Selects all columns of jobs from `job` and `queue`. */
  selectJob: string;
  /** Selects jobs with the end reasons of their attempts. In a store of several hosts, also tells which ones are not on the given host. */
  selectClaimed(host: string, boot: string): string;
  /** A query for the number of running jobs. */
  countRunning: string;
  /** Follows the conditions of a job that worker $1 adopts. $4 and $5 are the values of `host`. */
  isAdoptable: string;
  /**
   * A condition: whether a queue has a running job or, unless it is paused, a job that is ready, due or to be retried. $1 is the
   * present time.
   */
  isBusy: string;
  /** The time of the store's clock in milliseconds. */
  clock: string;
  /** Tells whether this user may fold the log. */
  mayFold: string;
  /** Returns a row if the log has so many rows that it is folded before it is read. */
  anyToFold: string;
  /** Tells whether the rows of the log are in the order of their commits. Then readers number the events that are not folded yet. */
  isLogInOrder: 'true' | 'false';
  /** Finds for each queue since when its oldest due job has been waiting: as `fresh`, `late` or `due`. */
  oldestWaiting: string;
  /** Follows a SELECT, so that nobody else changes its rows until the transaction ends. */
  forChange: string;
  /** Follows `forChange`, to leave out rows that another transaction has locked. */
  skipLocked: string;
  /** Does the same as `forChange`, and keeps other rows from referring to these. */
  forRemoval: string;
  /** Returns a condition: whether a column has one of the values of an array. */
  isOneOf(column: string, array: string): string;
  /** Does the same with the only column of a query. */
  isIn(column: string, query: string): string;
  /** Returns a table with the column `value`, which has the values of an array. */
  valuesOf(array: string, type: 'bigint' | 'text'): string;
  /** Returns the table `given` with these columns, and their types. The parameter is the JSON of an array of objects. */
  rowsOf(json: string, columns: Record<string, string>): string;
  /** Follows a table in FROM, and makes the engine use this index. */
  byIndex(name: string): string;
  /** Follows CROSS JOIN. Returns a table `one` with the column `value`: the numbers that the query finds for each row of the others. */
  numbersIn(query: string): string;
  /** Returns the conditions and the order for the newest jobs of a key, which only an index that begins with these columns fits. */
  newestOf(columns: readonly string[], key: readonly string[], range: JobRange): string;
  /** Compares a text with a pattern, and ignores the case of ASCII letters. */
  like: string;
  /** Returns an expression for a text property of a JSON column. The name may be any text. */
  property(column: string, name: string): string;
  /** The columns of an attempt that tell how long its output is and where its files are. $2 and $3 are the values of `host`. */
  outputColumns: string;
  /** Returns an expression that reads a column as JSON. */
  json(column: string): string;
  /** Returns an expression for the JSON text of an array with the values of a column. */
  jsonList(column: string): string;
  /** Returns an expression for the JSON text of a column with one more text property. */
  withProperty(column: string, name: string, value: string): string;
  /** More columns of workers and supervisors, in a store that several hosts use. */
  hostColumns: Record<'worker' | 'supervisor', string>;
  /** Reads the hosts with their leases. */
  hosts: string;
  /** Reads the highest attempt number that was drawn, and sets it. */
  lastAttempt: string;
  setLastAttempt: string;
  /** A condition: whether a job is to run at most once. */
  isAtMostOnce: string;
  /** Locks the jobs $1, so that none of them ends before others depend on it. Returns their numbers, ids, phases and states. */
  lockParents: string;
  /** Follows a SELECT from jobs and their attempts, so that nobody else changes these until the transaction ends. */
  lockClaimed: string;
  /** Returns statements for `changeJobs` that change jobs. */
  jobChange(change: JobChange): JobStatements;
  /** Returns statements for `changeJobs` that remove jobs. Their values start at $6. */
  jobRemoval(where: string): JobStatements;
  /** Reads the names and the types of the columns of the table $1. */
  columnsOf: string;
  /** Reads the highest number that was used in a table. */
  highestNumber(table: string): string;
  /** Makes the next job get a higher number than every job of an event. */
  reserveJobNumbers: string;
  /** Recomputes what only this engine derives from the jobs with numbers above $1. */
  recomputeOwn: string;
  /** The rules between rows that only this engine has. Each statement finds the rows that break its rule. */
  ownRules: Record<string, string>;
}

/** A column of a table, with its type. */
export interface LoadedColumn {
  name: string;
  type: string;
}

/** A range of job numbers, without its ends, and further conditions. */
interface JobRange {
  before: string;
  above: string;
  extra: string;
}

/** Jobs of one queue and state, in all phases or only in one. */
export interface JobKey {
  queue: number;
  state: State;
  phase?: 'ready' | 'waiting' | 'held' | 'blocked';
}

/** Scans of the jobs of some keys by one index. */
export interface JobScan {
  /** The columns of the index that a key has. They come before the number of the job. */
  columns: readonly ('queue' | 'state' | 'phase' | 'priority')[];
  index: string;
  /** The condition of a partial index or of the jobs, followed by AND. */
  where: string;
  keys: object[];
}

/** The last statement changes jobs, or removes them. It returns them as `ChangedJob`. The others read them before. */
export type JobStatements = readonly string[];

/** A change of jobs: which ones, and the new values of their columns. $5 is the time of the change. Other values start at $6. */
export interface JobChange {
  where: string;
  set: string;
  /** Counts the jobs as cancelled before they ran. */
  isDrop?: boolean;
}

/** A job after its change, or before its removal. */
export interface ChangedJob {
  number: number;
  id: string;
  queue: number;
  state: string;
  phase: string;
}

/** A job after a settlement was applied. */
export interface SettledRow {
  /** The index of the settlement. */
  ordinal: number;
  /** Is 1 if a cancel of the attempt has changed the settlement. */
  if_cancelled: number | null;
  number: number;
  id: string;
  /** The name of the queue. */
  queue: string;
  /** Is 1 if the queue has a concurrency limit. */
  is_limited: number;
  state: string;
  phase: string;
  /** Is 1 if other jobs may depend on this one. */
  waited_for: number;
}

interface WriteOptions {
  /** Frees the ballast if the disk is full. */
  usesBallast?: boolean;
  /** Repeats the work if another transaction has removed a row to which it refers, has taken a unique key, or either in a settlement. */
  repeatsAfter?: 'foreign-key' | 'unique-key' | 'settlement';
  /** Fails at once as busy while another process is writing, in a store that has one writer at a time. */
  ifFree?: boolean;
}

/** The rows of claimed jobs in order, and the most urgent job for which room was left, or would have been left with `leavesRoom`. */
export interface TakenJobs {
  rows: Row[];
  leftRoomFor?: JobOrder | null;
}

/** Runs the parts of a store on one database. `work` may be called again if a transaction has to be repeated. */
export interface Engine {
  readonly dialect: Dialect;
  /** Names the user of the store in events. */
  readonly actor: string | null;
  now(): number;
  /** Returns the id and the boot of this host, or nothing in a store that one host uses. */
  host(): readonly string[];
  /** Runs reads that all see one state of the store. */
  read<T>(work: () => Steps<T>): Promise<T>;
  /**
   * Runs reads of the whole store that see one state. The reader may pause for as long as it likes. Is not repeated once it has begun,
   * because what was read is passed on already.
   */
  readAll<T>(work: () => Steps<T>): Promise<T>;
  /** Passes rows on one at a time, because all of them may not fit into memory. */
  each(sql: string, keep: (row: Row) => void, ...values: Value[]): Steps<unknown>;
  /** Passes on the shared output of ended attempts. */
  eachSharedPart(keep: (part: ExportedFilePart) => void): Steps<unknown>;
  /** Reads more cheaply than `read` if `work` has one statement. Several statements may see different states. */
  glance<T>(work: () => Steps<T>): Promise<T>;
  /** Runs work that changes the store, in one transaction. Passes true to `work` if the ballast was freed for it. */
  write<T>(
    verb: keyof Store | 'fold',
    work: (isBallastFreed: boolean) => Steps<T>,
    options?: WriteOptions,
  ): Promise<T>;
  /** Runs statements that the dialect made for jobs, and logs the change. Each job has an event, unless it is null. */
  changeJobs(
    statements: JobStatements,
    event: NewEvent | null,
    now: number,
    ...values: Value[]
  ): Steps<ChangedJob[]>;
  /** Chooses indexes that find the jobs of these keys, newest first. No job is in two scans. */
  scansOf(keys: JobKey[]): Steps<JobScan[]>;
  /**
   * Inserts rows of a saved table that set the same columns, except those that exist. Returns how many were added. Throws
   * `import-invalid` if a value does not fit its column.
   */
  insertSaved(table: SavedTable, columns: LoadedColumn[], rows: Row[]): Steps<number>;
  /** Waits until it is certain whether each write was committed. */
  untilCertain(): Promise<void>;
  agenda(workerId: string, queues: string[] | null, now: number): Promise<Agenda>;
  /** Reads the queues with waiting jobs, unless the engine reads them one after the other while it chooses jobs. */
  openQueues(names: string[] | null): Steps<Row[]>;
  /** Makes due jobs ready, and starts attempts of the first ready jobs. Throws UnreadableJobs if a row is invalid. */
  takeJobs(request: ClaimRequest, room: Room, now: number): Steps<TakenJobs>;
  /** Renews the heartbeat of a worker in one statement. Returns its stop order and the settings, or no order if it has no lease. */
  beat(workerId: string, now: number, draining: number, leaseMs: number): Promise<Row | undefined>;
  /** Stores the host of a worker and lengthens the lease of the host, in a store that several hosts use. */
  registerHost(worker: NewWorker): Steps<unknown>;
  /** Notes that a worker which holds jobs has ended, in a store that several hosts use. */
  noteLeft(workerId: string): Steps<unknown>;
  /**
   * Inserts jobs. Returns their numbers. Throws if the id of one exists. A job with a unique key is the only one. It gets no number if
   * it was not added.
   */
  insertRows(batch: QueuedSpec[], now: number): Steps<(number | undefined)[]>;
  /** Settles attempts of different jobs, if their claims still hold. Returns the jobs of those that were settled. */
  settleJobs(settlements: Settlement[], actor: string | null): Steps<SettledRow[]>;
  /** Keeps others from changing tables until the transaction ends. */
  lockTable(names: string): Steps<unknown>;
}

/** Returns a function that makes the statements of a part once for each dialect. */
export function statementsOf<T>(make: (dialect: Dialect) => T): (dialect: Dialect) => T {
  const made = new Map<Dialect, T>();
  return (dialect) => {
    if (!made.has(dialect)) made.set(dialect, make(dialect));
    return made.get(dialect)!;
  };
}

/** Returns the details of an event as they are stored. */
export function detailText(detail: EventDetail | undefined): string | null {
  return detail === undefined ? null : JSON.stringify(detail);
}

type Recorder = Pick<Engine, 'now' | 'actor'>;

/** Records an event that belongs to no job. */
export function* recordEvent(
  { now, actor }: Recorder,
  { kind, detail }: NewEvent,
  { by = actor, queue = null }: { by?: string | null; queue?: number | null } = {},
): Steps<void> {
  const sql = `INSERT INTO log (at, kind, actor, queue, detail) VALUES ($1, $2, $3, $4, $5)`;
  yield* run(sql, now(), kind, by, queue, detailText(detail));
}

/** Records an event of a job that changes neither its state nor its queue. */
export function* recordJobEvent(
  { now, actor }: Recorder,
  { kind, detail }: NewEvent,
  id: string,
): Steps<void> {
  const sql = `INSERT INTO log (at, kind, actor, id, queue, detail) SELECT $1, $2, $3, id, queue, $4 FROM job WHERE id = $5`;
  yield* run(sql, now(), kind, actor, detailText(detail), id);
}

/** Records an event of an attempt by the given actor, or else by the worker that holds the attempt. */
export function* recordAttemptEvent(
  { now, actor }: Recorder,
  { kind, detail }: NewEvent,
  attempt: number,
  by = actor,
): Steps<void> {
  const sql = `INSERT INTO log (at, kind, actor, id, queue, attempt, detail)
    SELECT $1, $2, coalesce($3, attempt.worker_id), id, queue, ordinal, $4
    FROM attempt JOIN job ON job.number = attempt.job WHERE attempt.number = $5`;
  yield* run(sql, now(), kind, by, detailText(detail), attempt);
}
