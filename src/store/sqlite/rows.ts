import { QueueError } from '../../core/errors.ts';
import type { NamedField } from '../../core/field.ts';
import { JOB_DEFAULTS } from '../../core/field-list.ts';
import type { ClaimedJob, EndReason, Job, State, Uniqueness } from '../../core/job.ts';
import type { Outcome } from '../../core/outcome.ts';
import { STOP_ORDERS, type StopOrder } from '../../core/stop-order.ts';
import type { Attempt, ListedJob } from '../contract/jobs.ts';
import type { StopMark, Supervised, Worker } from '../contract/workers.ts';
import type { Row } from './connection.ts';
import { isJson, OWN, STARTS } from './job-columns.ts';
import { UNTOUCHED } from './new-rows.ts';
import { SAVED, unreadable } from './tables.ts';

const text = (value: Row[string] | undefined): string => value as string;
const integer = (value: Row[string] | undefined): number => value as number;
const maybeText = (value: Row[string] | undefined): string | null => value as string | null;
const maybeInteger = (value: Row[string] | undefined): number | null => value as number | null;
/** What is not JSON of the right kind is shown as if it were not there: one bad row must not hide all others. */
const json = <T>(value: Row[string] | undefined, fallback: T, isList = Array.isArray(fallback ?? [])): T => {
  if (value === null || value === undefined) return fallback;
  let read: unknown;
  try {
    read = JSON.parse(value as string);
  } catch {
    return fallback;
  }
  const fits = typeof read === 'object' && read !== null && Array.isArray(read) === isList;
  return fits ? (read as T) : fallback;
};

/** Throws if a job would not run as it was meant to, because a part of its row cannot be read. */
export function refuseUnreadable(row: Row): void {
  const column = unreadable(JOB_TABLE, row);
  if (column !== undefined)
    throw new QueueError('store-corrupt', `the ${column} of job '${row.id}' is not valid JSON`);
}

const JOB_TABLE = SAVED.find((table) => table.name === 'job')!;

const READERS = OWN.map((field) => ({ key: field.key, column: field.name, read: readerOf(field) }));

/** Returns how to convert a stored value, or null if the value itself is stored. */
function readerOf(field: NamedField): ((value: Row[string]) => unknown) | null {
  const { default: unset = null, type } = field;
  if (isJson(field)) return (value) => json(value, unset, type!.type === 'array');
  return type!.type === 'boolean' ? (value) => value === 1 : null;
}

const TEMPLATE = { ...JOB_DEFAULTS, ...UNTOUCHED };

export function toJob(row: Row): Job {
  const job = { ...TEMPLATE } as unknown as Job & Record<string, unknown>;
  for (const { key, column, read } of READERS) {
    const value = row[column];
    if (value != null) job[key] = read === null ? value : read(value);
  }
  if (row.start !== null) readStart(job, json<Record<string, unknown>>(row.start, {}));
  if (row.hooks !== null) job.hooks = json(row.hooks, {});
  if (row.policy !== null) job.policy = json(row.policy, {});
  job.unique = toUnique(row);
  job.state = text(row.state) as State;
  job.held = row.phase === 'held';
  job.blocked = row.phase === 'blocked';
  job.attempts = integer(row.attempts);
  job.crashes = integer(row.crashes);
  job.createdAt = integer(row.created_at);
  job.updatedAt = integer(row.updated_at);
  job.dueAt = maybeInteger(row.due_at);
  job.workerId = maybeText(row.worker_id);
  job.startedAt = maybeInteger(row.started_at);
  job.finishedAt = maybeInteger(row.finished_at);
  job.exitCode = maybeInteger(row.exit_code);
  job.lastError = maybeText(row.last_error);
  job.durationMs = maybeInteger(row.duration_ms);
  return job;
}

function readStart(job: Job & Record<string, unknown>, start: Record<string, unknown>): void {
  for (const { key, default: unset } of STARTS) job[key] = start[key] ?? unset;
  job.stdinBytes = (start.stdinBytes as number | undefined) ?? 0;
}

function toUnique(row: Row): Uniqueness | null {
  if (row.unique_key === null) return null;
  const until = maybeInteger(row.unique_until);
  const during = (maybeText(row.unique_while) ?? 'active') as Uniqueness['while'];
  return {
    key: text(row.unique_key),
    while: during,
    forMs: until === null ? null : until - integer(row.created_at),
  };
}

export function toListedJob(row: Row): ListedJob {
  return Object.assign(toJob(row), { number: integer(row.number) });
}

export function toClaimedJob(row: Row): ClaimedJob {
  return Object.assign(toJob(row), {
    claim: { job: integer(row.number), token: integer(row.token), attempt: integer(row.attempt) },
    ordinal: integer(row.runs),
    endReason: maybeText(row.end_reason) as EndReason | null,
  });
}

export function toAttempt(row: Row): Attempt {
  const finishedAt = maybeInteger(row.finished_at);
  const between = finishedAt === null ? null : finishedAt - integer(row.started_at);
  return {
    number: integer(row.number),
    ordinal: integer(row.ordinal),
    workerId: text(row.worker_id),
    startedAt: integer(row.started_at),
    finishedAt,
    durationMs: maybeInteger(row.duration_ms) ?? between,
    why: maybeText(row.why) as Outcome['why'] | null,
    exitCode: maybeInteger(row.exit_code),
    error: maybeText(row.error),
    outputBytes: integer(row.output_bytes),
    truncated: integer(row.truncated) === 1,
    leftBehind: json(row.left_behind, []),
  };
}

export function toSupervised(row: Row): Supervised & { order: StopOrder | null } {
  return {
    id: text(row.id),
    pid: integer(row.pid),
    startTime: text(row.start_time),
    host: { id: text(row.host), boot: text(row.boot), pidNamespace: text(row.pid_namespace) },
    order: STOP_ORDERS[integer(row.stop_order) - 1] ?? null,
  };
}

export function toStopMark(row: Row): StopMark {
  return json<StopMark>(row.value, { boot: '', at: 0, by: [] });
}

export function toWorker(row: Row): Worker {
  return {
    ...toSupervised(row),
    supervisor: text(row.supervisor),
    hostname: text(row.hostname),
    concurrency: integer(row.concurrency),
    queues: json<string[] | null>(row.queues, null),
    startedAt: integer(row.started_at),
    lastHeartbeat: integer(row.last_heartbeat),
    beat: integer(row.beat),
    draining: integer(row.draining) === 1,
    currentJobs: json(row.current_jobs, []),
  };
}
