import type { NamedField } from '../core/jobs/field.ts';
import { isJson, ownFields } from '../core/jobs/field-list.ts';
import type { Claim, ClaimedJob, EndReason, Job, JobPolicy, State, Uniqueness } from '../core/jobs/job.ts';
import { JOB_DEFAULTS } from '../core/jobs/job-defaults.ts';
import { availableTokens, type Rate, type Tokens } from '../core/rules/queue.ts';
import { JOB_SIGNALS, STOP_ORDERS, type StopOrder } from '../core/signals.ts';
import type { Wish } from './contract/claims.ts';
import type { Attempt, ListedJob } from './contract/jobs.ts';
import type { QueueRow } from './contract/queues.ts';
import type { RegisteredProcess, Worker } from './contract/workers.ts';
import { SELECTED_FIELDS, START_KEYS } from './job-columns.ts';
import { jobShapes, type Shape } from './json-shapes.ts';
import { INITIAL_FIELDS } from './new-rows.ts';
import type { Row } from './row.ts';

/** Parses JSON. Returns the fallback if it does not have the expected shape, so that one bad row does not stop the work on all others. */
export function parseJson<T>(value: unknown, fallback: T, fits: Shape = Array.isArray): T {
  if (value === null || value === undefined) return fallback;
  try {
    const read: unknown = JSON.parse(value as string);
    return fits(read) ? (read as T) : fallback;
  } catch {
    return fallback;
  }
}

interface ColumnReader {
  key: string;
  column: string;
  read: ((value: Row[string]) => unknown) | null;
}

let readers: ColumnReader[] | null = null;
let knownShapes: Record<string, Shape> | null = null;

const shapeOf = (column: string): Shape => {
  knownShapes ??= jobShapes();
  return knownShapes[column]!;
};

/** Returns the readers of all columns. They are made on first use, because an enqueue reads no job. */
function columnReaders(): ColumnReader[] {
  readers ??= ownFields().map((field) => ({ key: field.key, column: field.name, read: readerOf(field) }));
  return readers;
}

/** Returns a function that converts a stored value, or null if the value needs no conversion. */
function readerOf(field: NamedField): ((value: Row[string]) => unknown) | null {
  const { default: unset = null, type } = field;
  if (isJson(field)) return (value) => parseJson(value, unset, shapeOf(field.name));
  return type!.type === 'boolean' ? (value) => value === 1 : null;
}

/** Returns the converted row, or null if there is none. */
export function mapIfFound<T>(row: Row | undefined, convert: (row: Row) => T): T | null {
  return row === undefined ? null : convert(row);
}

/** The columns of `job` and `queue` that `toJob` reads. */
export const JOB = `job.number, ${SELECTED_FIELDS},
  job.state, job.attempts, job.crashes, job.runs, job.token, job.attempt, job.worker_id, job.created_at, job.updated_at,
  job.due_at, job.started_at, job.finished_at, job.exit_code, job.last_error, job.duration_ms, job.phase, job.unique_key,
  job.unique_while, job.unique_until`;

const JOB_TEMPLATE = { ...JOB_DEFAULTS, ...INITIAL_FIELDS };

export function toJob(row: Row): Job {
  const job = { ...JOB_TEMPLATE } as unknown as Job & Record<string, unknown>;
  for (const { key, column, read } of columnReaders()) {
    const value = row[column];
    if (value != null) job[key] = read === null ? value : read(value);
  }
  if (row.start !== null) readStart(job, parseJson<Record<string, unknown>>(row.start, {}, shapeOf('start')));
  if (row.hooks !== null) job.hooks = parseJson(row.hooks, {}, shapeOf('hooks'));
  if (row.policy !== null) job.policy = toPolicy(row.policy);
  job.unique = toUnique(row);
  job.state = row.state as State;
  job.held = row.phase === 'held';
  job.blocked = row.phase === 'blocked';
  job.delayed = row.phase === 'waiting';
  job.attempts = row.attempts as number;
  job.crashes = row.crashes as number;
  job.createdAt = row.created_at as number;
  job.updatedAt = row.updated_at as number;
  job.dueAt = row.due_at as number | null;
  job.workerId = row.worker_id as string | null;
  job.startedAt = row.started_at as number | null;
  job.finishedAt = row.finished_at as number | null;
  job.exitCode = row.exit_code as number | null;
  job.lastError = row.last_error as string | null;
  job.durationMs = row.duration_ms as number | null;
  return job;
}

export function toPolicy(text: Row[string] | undefined): JobPolicy {
  return parseJson<JobPolicy>(text, {}, shapeOf('policy'));
}

function readStart(job: Job & Record<string, unknown>, start: Record<string, unknown>): void {
  for (const key of START_KEYS) job[key] = start[key] ?? JOB_DEFAULTS[key];
  job.stdinBytes = (start.stdinBytes as number | undefined) ?? 0;
}

function toUnique(row: Row): Uniqueness | null {
  if (row.unique_key === null) return null;
  const until = row.unique_until as number | null;
  const forMs = until === null ? null : until - (row.created_at as number);
  const during = row.unique_while as Uniqueness['while'] | null;
  return { key: row.unique_key as string, while: during ?? 'active', forMs };
}

export function toListedJob(row: Row): ListedJob {
  return Object.assign(toJob(row), { number: row.number as number });
}

const toClaim = (row: Row): Claim => ({
  job: row.number as number,
  token: row.token as number,
  attempt: row.attempt as number,
});

export function toClaimedJob(row: Row): ClaimedJob {
  return Object.assign(toJob(row), {
    claim: toClaim(row),
    ordinal: row.runs as number,
    endReason: (row.end_reason ?? null) as EndReason | null,
    otherHost: (row.other_host ?? null) as string | null,
    otherBoot: row.other_boot === 1,
  });
}

export function toAttempt(row: Row): Attempt {
  const read = { truncated: row.truncated === 1, leftBehind: parseJson(row.leftBehind, []) };
  const { otherHost = null, otherDirectory = null } = row;
  return { ...row, ...read, otherHost, otherDirectory } as unknown as Attempt;
}

type OrderedProcess = RegisteredProcess & { order: StopOrder | null };

export function toRegistered({
  host,
  boot,
  pidNamespace,
  stopOrder,
  bootHasLease,
  ...rest
}: Row): OrderedProcess {
  const order = STOP_ORDERS[(stopOrder as number) - 1] ?? null;
  const lease = bootHasLease === undefined ? {} : { bootHasLease: bootHasLease === 1 };
  return { ...rest, host: { id: host, boot, pidNamespace }, order, ...lease } as unknown as OrderedProcess;
}

export function toWorker({ queues, hasLease, hasLeft, draining, currentJobs, ...rest }: Row): Worker {
  const lists = {
    queues: parseJson(queues, null),
    currentJobs: parseJson(currentJobs, []),
  };
  const flags = { hasLease: hasLease === 1, hasLeft: hasLeft === 1, draining: draining === 1 };
  return { ...toRegistered(rest), ...lists, ...flags } as unknown as Worker;
}

/** Returns the stop order in the row of a worker. */
export function toOrder(row: Row | undefined): StopOrder | null {
  return row === undefined ? null : (STOP_ORDERS[(row.stop_order as number) - 1] ?? null);
}

export function toWish(row: Row): Wish {
  const signal = JOB_SIGNALS.find((one) => one === row.signal) ?? null;
  return { claim: toClaim(row), end: row.end_reason as EndReason | null, signal };
}

export function toNextTick(row: Row): number | null {
  return row.releasable === 1 ? 0 : (row.next_at as number | null);
}

/** A queue that is not paused. It may start `room` more jobs now. */
export interface QueueRoom {
  number: number;
  name: string;
  room: number;
  /** The number of jobs that its rate limit allows now. Null if it has no rate limit. */
  tokens: number | null;
  /** The time for which `tokens` holds. */
  tokensAt: number;
  /** The time at which its rate limit allows the next job. Infinity while the queue is at its concurrency limit. */
  openAt: number;
}

export function toQueueRoom(row: Row, now: number): QueueRoom {
  const limit = row.concurrency as number | null;
  const free = limit === null ? Number.POSITIVE_INFINITY : limit - ((row.running as number | null) ?? 0);
  const { rate, tokens: left } = toRate(row);
  const { tokens, openAt, at } =
    rate === null ? { tokens: null, openAt: 0, at: now } : availableTokens(rate, left, now);
  return {
    number: row.number as number,
    name: row.name as string,
    room: Math.max(0, Math.min(free, tokens === null ? free : Math.floor(tokens))),
    tokens,
    tokensAt: at,
    // A queue at its concurrency limit opens when one of its jobs ends, and that time is unknown.
    openAt: free <= 0 ? Number.POSITIVE_INFINITY : openAt,
  };
}

/** Returns the rate of a queue, and what is left of it. */
function toRate(row: Row): { rate: Rate | null; tokens: Tokens | null } {
  const [jobs, at] = [row.rate as number | null, row.tokens_at as number | null];
  return {
    rate: jobs === null ? null : { jobs, perMs: row.rate_ms as number },
    tokens: at === null ? null : { left: row.tokens as number, at },
  };
}

export function toQueue({ rate, rate_ms, tokens, tokens_at, ...rest }: Row): QueueRow {
  return { ...rest, ...toRate({ rate, rate_ms, tokens, tokens_at } as Row) } as unknown as QueueRow;
}
