import { byteLength } from '../core/byte-length.ts';
import type { Job, JobSpec } from '../core/job.ts';
import type { StoredField } from '../core/stored-fields.ts';
import { isJson, OWN_FIELDS, PLAIN_KEYS, RARE_DEFAULTS, RARE_KEYS, START_FIELDS } from './job-columns.ts';
import type { SqlValue } from './row.ts';

/** A job and the number of its queue. */
export interface PlacedJob {
  job: JobSpec;
  queue: number;
}

type Values = Record<string, SqlValue>;

/** Tells whether the job sets none of the fields that sql.insertPlainJobs leaves out. */
export function isPlain(job: JobSpec): boolean {
  if (job.hold) return false;
  for (let i = 0; i < RARE_KEYS.length; i++) {
    const value = job[RARE_KEYS[i] as keyof JobSpec];
    if (value !== RARE_DEFAULTS[i] && !isEmpty(value)) return false;
  }
  return true;
}

/** Adds the values of sql.insertPlainJobs, without creating an array for each of many jobs. */
export function pushPlainValues(values: SqlValue[], { job, queue }: PlacedJob, now: number): void {
  values.push(queue);
  for (let i = 0; i < PLAIN_KEYS.length; i++) values.push((job as unknown as Values)[PLAIN_KEYS[i]!]!);
  values.push(now, now, now);
}

const WRITERS = OWN_FIELDS.map((field) => ({ key: field.key as keyof JobSpec, write: writerOf(field) }));

/** Adds the values of sql.insertJob. */
export function pushValues(values: SqlValue[], { job, queue }: PlacedJob, now: number): void {
  for (const { key, write } of WRITERS) values.push(key === 'queue' ? queue : write(job[key]));
  values.push(jsonOrNull(job.hooks), jsonOrNull(job.policy), jsonOrNull(startColumn(job)));
  const due = job.runAt ?? now;
  values.push(job.dependsOn.length, phaseOf(job, due, now), now, now, due);
}

export function writerOf(field: StoredField): (value: unknown) => SqlValue {
  if (isJson(field)) return jsonOrNull;
  if (field.type!.type === 'boolean') return (value) => (value ? 1 : 0);
  return (value) => value as SqlValue;
}

export function phaseOf(job: JobSpec, due: number, now: number): string {
  if (job.hold) return 'held';
  if (job.dependsOn.length > 0) return 'blocked';
  return due > now ? 'waiting' : 'ready';
}

function startColumn(job: JobSpec): Record<string, unknown> {
  const start: Record<string, unknown> = {};
  for (const { key, default: unset } of START_FIELDS) {
    const value = job[key as keyof JobSpec];
    if (value !== unset && !isEmpty(value)) start[key] = value;
  }
  if (job.stdin !== null) start.stdinBytes = byteLength(job.stdin);
  return start;
}

function jsonOrNull(value: unknown): string | null {
  return value === null || isEmpty(value) ? null : JSON.stringify(value);
}

/** Tells whether this is an array or an object without elements. */
function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  for (const _ in value) return false;
  return true;
}

/** The initial values of the fields that a user does not set. `newJob` fills in sizes and times. */
export const INITIAL_FIELDS = {
  stdinBytes: 0,
  state: 'pending',
  held: false,
  blocked: false,
  delayed: false,
  attempts: 0,
  crashes: 0,
  createdAt: 0,
  updatedAt: 0,
  dueAt: null,
  workerId: null,
  startedAt: null,
  finishedAt: null,
  exitCode: null,
  lastError: null,
  durationMs: null,
} satisfies Omit<Job, keyof JobSpec>;

/** Returns a job that was just inserted, without reading it back. */
export function newJob(spec: JobSpec, now: number): Job {
  const due = spec.runAt ?? now;
  const phase = phaseOf(spec, due, now);
  return {
    ...spec,
    ...INITIAL_FIELDS,
    stdinBytes: spec.stdin === null ? 0 : byteLength(spec.stdin),
    held: phase === 'held',
    blocked: phase === 'blocked',
    delayed: phase === 'waiting',
    createdAt: now,
    updatedAt: now,
    dueAt: due,
  };
}
