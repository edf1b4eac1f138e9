import { QueueError } from '../core/errors.ts';
import type { Job, JobSpec } from '../core/jobs/job.ts';
import { JOB_DEFAULTS } from '../core/jobs/job-defaults.ts';
import { byteLength } from '../core/text/language.ts';
import { OWN_KEYS, START_KEYS } from './job-columns.ts';
import type { SqlValue } from './row.ts';

/** A job and the number of its queue. */
export interface QueuedSpec {
  job: JobSpec;
  queue: number;
}

/** Adds the values of sql.insertJob. */
export function pushValues(values: SqlValue[], { job, queue }: QueuedSpec, now: number): void {
  for (const key of OWN_KEYS) values.push(key === 'queue' ? queue : columnValue(job[key as keyof JobSpec]));
  values.push(jsonOrNull(job.hooks), jsonOrNull(job.policy), jsonOrNull(startColumn(job)));
  const due = job.runAt ?? now;
  values.push(job.dependsOn.length, phaseOf(job, due, now), now, now, due);
}

/** Returns a value as its column holds it: an array or an object as JSON, or null if it is empty, and a boolean as 1 or 0. */
export function columnValue(value: unknown): SqlValue {
  if (typeof value === 'object') return jsonOrNull(value);
  return typeof value === 'boolean' ? Number(value) : (value as SqlValue);
}

export function phaseOf(job: JobSpec, due: number, now: number): string {
  if (job.hold) return 'held';
  if (job.dependsOn.length > 0) return 'blocked';
  return due > now ? 'waiting' : 'ready';
}

function startColumn(job: JobSpec): Record<string, unknown> {
  const start: Record<string, unknown> = {};
  for (const key of START_KEYS) {
    const value = job[key as keyof JobSpec];
    if (value !== JOB_DEFAULTS[key] && !isEmpty(value)) start[key] = value;
  }
  if (job.stdin !== null) start.stdinBytes = byteLength(job.stdin);
  return start;
}

function jsonOrNull(value: unknown): string | null {
  return value === null || isEmpty(value) ? null : JSON.stringify(value);
}

/** Tells whether this is an array or an object without elements. */
export function isEmpty(value: unknown): boolean {
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

export function jobExists(id: string): QueueError {
  return new QueueError('job-exists', `a job with the id '${id}' already exists`);
}
