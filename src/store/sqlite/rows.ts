import { QueueError } from '../../core/errors.ts';
import { JOB_DEFAULTS, type NamedField } from '../../core/field-list.ts';
import type { ClaimedJob, EndReason, Job, JobSpec, State, Uniqueness } from '../../core/job.ts';
import type { Outcome } from '../../core/outcome.ts';
import { STOP_ORDERS, type StopOrder } from '../../core/stop-order.ts';
import type { Attempt, ListedJob } from '../contract/jobs.ts';
import type { StopMark, Supervised, Worker } from '../contract/workers.ts';
import type { Row } from './connection.ts';
import { isJson, OWN, STARTS } from './job-columns.ts';
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

function readerOf(field: NamedField): (value: Row[string] | undefined) => unknown {
  const { default: unset = null } = field;
  if (isJson(field)) return (value) => json(value, unset, field.type!.type === 'array');
  if (field.type!.type === 'boolean') return (value) => (value == null ? unset : value === 1);
  return (value) => value ?? unset;
}

export function toJob(row: Row): Job {
  const job: Record<string, unknown> = { ...JOB_DEFAULTS };
  for (const { key, column, read } of READERS) job[key] = read(row[column]);
  const start = json<Record<string, unknown>>(row.start, {});
  for (const { key, default: unset } of STARTS) job[key] = start[key] ?? unset;
  return {
    ...(job as unknown as JobSpec),
    hooks: json(row.hooks, {}),
    policy: json(row.policy, {}),
    unique: toUnique(row),
    stdinBytes: (start.stdinBytes as number | undefined) ?? 0,
    state: text(row.state) as State,
    held: row.phase === 'held',
    blocked: row.phase === 'blocked',
    attempts: integer(row.attempts),
    crashes: integer(row.crashes),
    createdAt: integer(row.created_at),
    updatedAt: integer(row.updated_at),
    dueAt: maybeInteger(row.due_at),
    workerId: maybeText(row.worker_id),
    startedAt: maybeInteger(row.started_at),
    finishedAt: maybeInteger(row.finished_at),
    exitCode: maybeInteger(row.exit_code),
    lastError: maybeText(row.last_error),
    durationMs: maybeInteger(row.duration_ms),
  };
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
  return { ...toJob(row), number: integer(row.number) };
}

export function toClaimedJob(row: Row): ClaimedJob {
  return {
    ...toJob(row),
    claim: { job: integer(row.number), token: integer(row.token), attempt: integer(row.attempt) },
    ordinal: integer(row.runs),
    endReason: maybeText(row.end_reason) as EndReason | null,
  };
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
