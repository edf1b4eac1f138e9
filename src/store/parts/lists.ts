import { type Condition, SEARCHED_JOBS, type StoreFilter } from '../../core/jobs/filter.ts';
import { WAITING_STATES, type WaitingSelection } from '../../core/jobs/waiting-reason.ts';
import type { JobStore, ListedJob, Page } from '../contract/jobs.ts';
import type { Value } from '../row.ts';
import { toListedJob } from '../rows.ts';
import {
  all,
  type Dialect,
  type Engine,
  get,
  type JobKey,
  type JobScan,
  nothing,
  type Steps,
  statementsOf,
  together,
} from '../steps.ts';
import { COUNTS_OF_QUEUE, CURRENT_COUNTS } from './log.ts';

/** The default of `before`. Every job has a lower number. */
const MAX_NUMBER = Number.MAX_SAFE_INTEGER;
/** At most this many jobs that are due but not yet ready are sorted by number. If there are more, all delayed jobs are scanned. */
const MAX_DUE = 5000;

/** The reasons to wait that come from the job, not from its queue, each with the phase and the state of such jobs. */
const OWN_REASONS = [
  ['held', 'held', 'pending'],
  ['held', 'held', 'failed'],
  ['blocked', 'blocked', 'pending'],
  ['blocked', 'blocked', 'failed'],
  ['scheduled', 'waiting', 'pending'],
  ['retrying', 'waiting', 'failed'],
] as const;

/** The columns of `job` that the conditions of a filter compare. */
const CONDITION_COLUMNS: Record<Condition['field'], string> = {
  attempts: 'attempts',
  crashes: 'crashes',
  priority: 'priority',
  max_retries: 'max_retries',
  exit_code: 'exit_code',
  duration: 'duration_ms',
};
/** Joins the searched columns, so that a search costs one comparison for each job. No id or name contains the separator. */
const SEARCHED_TEXT = "concat_ws('\x1f', id, command, name, tags, last_error)";

/** Selects jobs of a queue that are due and not ready yet, in the order of their due times. */
const dueNumbers = (queue: string, now: string, limit: number): string =>
  `SELECT number FROM job WHERE phase = 'waiting' AND queue = ${queue} AND due_at <= ${now} ORDER BY due_at LIMIT ${limit}`;

export const listStatements = statementsOf(({ isOneOf }) => {
  return {
    newestJobNumber: 'SELECT max(number) AS number FROM job',
    groups: `SELECT queue, state FROM (${CURRENT_COUNTS}) AS current`,
    groupsOfQueue: `SELECT queue, state FROM (${COUNTS_OF_QUEUE}) AS current`,
    /** Counts the due jobs of each of the named queues, up to a limit. */
    countDue: `SELECT number AS queue, (SELECT count(*) FROM (${dueNumbers('queue.number', '$2', MAX_DUE + 1)}) AS due) AS jobs
      FROM queue WHERE ${isOneOf('name', '$1')}`,
  };
});

type Bounds = Pick<Page, 'before' | 'above'>;

export function listPart(db: Engine): Pick<JobStore, 'list' | 'scanEnd' | 'count'> {
  return {
    list: (filter, page) => db.read(() => list(db, filter, page)),
    scanEnd: (filter, limit, before) => db.read(() => scanEnd(db, filter, limit, before)),
    count: (filter, most, range) => db.read(() => count(db, filter, most, range)),
  };
}

function* list(db: Engine, filter: StoreFilter, page: Page): Steps<ListedJob[]> {
  const { selectJob, isIn } = db.dialect;
  const plan = yield* planScans(db, filter);
  if (plan === null) return [];
  const { values, bind } = newBinder();
  const numbers = numbersOf(db.dialect, plan, page, page.limit, bind);
  const first = `SELECT number FROM (${numbers}) AS found ORDER BY number DESC LIMIT ${bind(page.limit, 'bigint')}`;
  const jobs = `${selectJob} WHERE ${isIn('job.number', first)} ORDER BY job.number DESC`;
  return (yield* all(jobs, ...values)).map(toListedJob);
}

function* count(db: Engine, filter: StoreFilter, most: number, bounds: Bounds = {}): Steps<number> {
  const plan = yield* planScans(db, filter);
  if (plan === null) return 0;
  const { values, bind } = newBinder();
  const numbers = numbersOf(db.dialect, plan, bounds, most, bind);
  const first = `SELECT 1 AS one FROM (${numbers}) AS found LIMIT ${bind(most, 'bigint')}`;
  const counted = yield* get<{ jobs: number }>(`SELECT count(*) AS jobs FROM (${first}) AS one`, ...values);
  return counted!.jobs;
}

function* scanEnd(db: Engine, filter: StoreFilter, limit: number, before = MAX_NUMBER): Steps<number> {
  const plan = yield* planScans(db, filter);
  if (plan === null) return 0;
  if (plan.single === 'all') {
    const end = Math.min(before - 1, plan.newest) - limit;
    return end > plan.floor ? end : 0;
  }
  const { values, bind } = newBinder();
  const numbers = numbersOf(db.dialect, { ...plan, conditions: () => [] }, { before }, limit + 1, bind);
  // Finds the number that is followed by `limit` newer ones.
  const end = `SELECT number FROM (${numbers}) AS found ORDER BY number DESC LIMIT 1 OFFSET ${bind(limit, 'bigint')}`;
  return (yield* get<{ number: number }>(end, ...values))?.number ?? 0;
}

/** Adds a value to a statement, and returns its placeholder. An array and JSON have no type. */
type Bind = (value: Value, type?: 'bigint' | 'float8' | 'text') => string;

/** Collects the values of a statement that is put together from parts. */
function newBinder(): { values: Value[]; bind: Bind } {
  const values: Value[] = [];
  const bind: Bind = (value, type) => {
    const placeholder = `$${values.push(value)}`;
    return type === undefined ? placeholder : `CAST(${placeholder} AS ${type})`;
  };
  return { values, bind };
}

/** The index scans for a filter. No job is in two of them. */
interface ScanPlan {
  /** One scan of all jobs, or of those with the name of the filter, takes the place of the others. */
  single: 'all' | { name: string } | null;
  scans: JobScan[];
  /** The queues whose jobs that are due and not ready yet are scanned, and the time of the filter. */
  due: { queues: Set<number>; now: number };
  /** The number of the newest job of the store. */
  newest: number;
  /** Jobs up to this number are left out, because a text search covers only the newest jobs. */
  floor: number;
  /** Returns the conditions that are checked job by job. */
  conditions(bind: Bind): string[];
}

interface DueCount {
  queue: number;
  jobs: number;
}

/** Chooses the index scans for a filter. Returns null if there are no jobs to scan. */
function* planScans(db: Engine, filter: StoreFilter): Steps<ScanPlan | null> {
  const sql = listStatements(db.dialect);
  const { waiting, name, text, queue } = filter;
  const states = filter.states?.length ? [...new Set(filter.states)] : null;
  const isGrouped = states !== null || queue !== undefined || waiting !== undefined;
  const [found, groups, due] = yield* together(
    get<{ number: number | null }>(sql.newestJobNumber),
    groupsOf(db, isGrouped, queue),
    waiting === undefined ? nothing([]) : all<DueCount>(sql.countDue, waiting.due, waiting.now),
  );
  const wanted = groups.filter(({ state }) => states === null || states.includes(state));
  if (isGrouped && wanted.length === 0) return null;
  // A name is the most selective key, and a text search reads the newest jobs in order.
  const single = name !== undefined ? { name } : text !== undefined || !isGrouped ? 'all' : null;
  const dueQueues = new Set<number>();
  const keys = waiting === undefined ? wanted : keysOf(waiting, wanted, due, dueQueues);
  const scans = single === null ? yield* db.scansOf(keys) : [];
  if (single === null && scans.length === 0 && dueQueues.size === 0) return null;
  const newest = found?.number ?? 0;
  return {
    ...{ single, scans, due: { queues: dueQueues, now: waiting?.now ?? 0 }, newest },
    floor: text === undefined ? 0 : Math.max(0, newest - SEARCHED_JOBS),
    conditions: (bind) => [
      ...(single === null || queue === undefined ? [] : [`queue = ${bind(wanted[0]!.queue, 'bigint')}`]),
      ...(states === null ? [] : [db.dialect.isOneOf('state', bind(states))]),
      ...conditionsOf(db.dialect, filter, due, bind),
    ],
  };
}

/** Returns the queues and states that have jobs, of all queues or of one. */
function groupsOf({ dialect }: Engine, isGrouped: boolean, queue: string | undefined): Steps<JobKey[]> {
  const { groups, groupsOfQueue } = listStatements(dialect);
  if (!isGrouped) return nothing([]);
  return queue === undefined ? all(groups) : all(groupsOfQueue, queue);
}

/**
 * Returns the keys of the selected jobs only, so that a page does not cost more if many other jobs are waiting. Adds to `dueQueues`
 * the queues whose jobs that are due and not ready yet are scanned in the order of their due times.
 */
function keysOf(
  waiting: WaitingSelection,
  groups: JobKey[],
  dueCounts: DueCount[],
  dueQueues: Set<number>,
): JobKey[] {
  const keys: JobKey[] = [];
  const dueJobs = new Map(dueCounts.map(({ queue, jobs }) => [queue, jobs]));
  for (const { queue, state } of groups) {
    if (!WAITING_STATES.includes(state)) continue;
    const due = dueJobs.get(queue);
    // All delayed jobs are scanned if others of them are selected, too, or if too many are due.
    const scansDelayed = due !== undefined && (waiting.scheduled || waiting.retrying || due > MAX_DUE);
    if (due !== undefined) keys.push({ queue, state, phase: 'ready' });
    if (due !== undefined && due > 0 && !scansDelayed) dueQueues.add(queue);
    for (const [reason, phase, itsState] of OWN_REASONS)
      if (state === itsState && (waiting[reason] || (scansDelayed && phase === 'waiting')))
        keys.push({ queue, state, phase });
  }
  return keys;
}

type KeyColumn = JobScan['columns'][number];
const KEY_TYPES: Record<KeyColumn, string> = {
  queue: 'bigint',
  priority: 'bigint',
  state: 'text',
  phase: 'text',
};

/** Returns a query for the numbers of the newest matching jobs of each scan, at least `limit` of them if there are as many. */
function numbersOf(
  dialect: Dialect,
  { single, scans, due, floor, conditions }: ScanPlan,
  bounds: Bounds,
  limit: number,
  bind: Bind,
): string {
  const before = bind(bounds.before ?? MAX_NUMBER, 'bigint');
  const above = bind(Math.max(bounds.above ?? 0, floor), 'bigint');
  const checked = conditions(bind);
  // Each literal limit makes another statement that has to be planned, so there are few of them.
  const most = 2 ** Math.ceil(Math.log2(Math.max(1, limit)));
  if (single !== null) {
    const [columns, key] = single === 'all' ? [[], []] : [['name'], [bind(single.name, 'text')]];
    const from =
      single === 'all' ? 'job WHERE' : `job${dialect.byIndex('job_by_name')} WHERE name IS NOT NULL AND`;
    const range = dialect.newestOf(columns, key, { before, above, extra: ifAll(checked) });
    return `SELECT number FROM ${from} ${range} LIMIT ${most}`;
  }
  const scanEach = (columns: readonly KeyColumn[], keys: object[], query: string): string => {
    const types = Object.fromEntries(columns.map((column) => [column, KEY_TYPES[column]]));
    return `SELECT one.value AS number FROM ${dialect.rowsOf(bind(JSON.stringify(keys)), types)}
      CROSS JOIN ${dialect.numbersIn(query)}`;
  };
  const queries = scans.map(({ index, columns, where, keys }) => {
    const key = columns.map((column) => `given.${column}`);
    const range = dialect.newestOf(columns, key, { before, above, extra: ifAll(checked) });
    const query = `SELECT number FROM job${dialect.byIndex(index)} WHERE ${where}${range} LIMIT ${most}`;
    return scanEach(columns, keys, query);
  });
  if (due.queues.size > 0) {
    const isDue = dialect.isIn('number', dueNumbers('given.queue', bind(due.now, 'bigint'), MAX_DUE));
    const extra = ifAll([`number < ${before}`, `number > ${above}`, ...checked]);
    const query = `SELECT number FROM job WHERE ${isDue}${extra} ORDER BY number DESC LIMIT ${most}`;
    const keys = Array.from(due.queues, (queue) => ({ queue }));
    queries.push(scanEach(['queue'], keys, query));
  }
  return queries.join(' UNION ALL ');
}

/** Joins conditions that are checked job by job. They are in a CASE, because an engine chooses no index by the conditions in one. */
function ifAll(conditions: string[]): string {
  return conditions.length === 0 ? '' : ` AND CASE WHEN ${conditions.join(' AND ')} THEN true ELSE false END`;
}

/** Returns the conditions of a filter that no index covers. User text is always a bound value. */
function conditionsOf(dialect: Dialect, filter: StoreFilter, due: DueCount[], bind: Bind): string[] {
  const { tags, createdBefore, error, exitCode, conditions = [], waiting, text } = filter;
  const contains = (searched: string, part: string): string =>
    `${searched} ${dialect.like} ${bind(patternOf(part), 'text')} ESCAPE '\\'`;
  const parts: string[] = [];
  for (const [key, value] of Object.entries(tags ?? {})) {
    // The cheap text comparison comes first, so that few rows are parsed as JSON.
    parts.push(contains('tags', JSON.stringify(value)));
    parts.push(`${dialect.property('tags', bind(key, 'text'))} = ${bind(value, 'text')}`);
  }
  // Numbers of filters may have decimals.
  if (createdBefore !== undefined) parts.push(`created_at < ${bind(createdBefore, 'float8')}`);
  if (error !== undefined) parts.push(contains('last_error', error));
  if (exitCode !== undefined) parts.push(`exit_code = ${bind(exitCode, 'float8')}`);
  for (const { field, operator, value } of conditions)
    parts.push(`${CONDITION_COLUMNS[field]} ${operator} ${bind(value, 'float8')}`);
  if (waiting !== undefined) {
    const inDueQueue = dialect.isOneOf('queue', bind(due.map(({ queue }) => queue)));
    parts.push(isSelected(waiting, inDueQueue, bind(waiting.now, 'float8')));
  }
  if (text !== undefined) parts.push(contains(SEARCHED_TEXT, text));
  return parts;
}

/** Returns a pattern for texts that contain this one. No stored text has a NUL character. */
function patternOf(part: string): string {
  return `%${part.replaceAll(/[\\%_]/g, '\\$&').replaceAll('\0', '\ufffd')}%`;
}

/** Matches the selected waiting jobs. A job that is due counts as ready, even if no claim has promoted it yet. */
function isSelected(waiting: WaitingSelection, inDueQueue: string, now: string): string {
  const { held, blocked, scheduled, retrying } = waiting;
  return `CASE phase WHEN 'held' THEN ${held} WHEN 'blocked' THEN ${blocked} WHEN 'ready' THEN ${inDueQueue}
    WHEN 'waiting' THEN CASE WHEN due_at <= ${now} THEN ${inDueQueue}
      WHEN state = 'failed' THEN ${retrying} ELSE ${scheduled} END ELSE false END`;
}
