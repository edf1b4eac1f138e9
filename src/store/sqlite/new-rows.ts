import type { SQLInputValue } from 'node:sqlite';
import type { NamedField } from '../../core/field.ts';
import type { Job, JobSpec } from '../../core/job.ts';
import { isJson, OWN, PLAIN_KEYS, RARE_DEFAULTS, RARE_KEYS, STARTS } from './job-columns.ts';

/** A job and the number of its queue. */
export interface Placed {
  job: JobSpec;
  queue: number;
}

type Values = Record<string, SQLInputValue>;

/** True if the job sets no field that sql.insertPlainJobs leaves out. */
export function isPlain(job: JobSpec): boolean {
  if (job.hold) return false;
  for (let i = 0; i < RARE_KEYS.length; i++) {
    const value = job[RARE_KEYS[i] as keyof JobSpec];
    if (value !== RARE_DEFAULTS[i] && !isEmpty(value)) return false;
  }
  return true;
}

/** Adds the values of sql.insertPlainJobs, without creating an array for each of many jobs. */
export function pushPlain(values: SQLInputValue[], { job, queue }: Placed, now: number): void {
  values.push(queue);
  for (let i = 0; i < PLAIN_KEYS.length; i++) values.push((job as unknown as Values)[PLAIN_KEYS[i]!]!);
  values.push(now, now, now);
}

const WRITERS = OWN.map((field) => ({ key: field.key as keyof JobSpec, write: writerOf(field) }));

/** Adds the values of sql.insertJob. */
export function pushRow(values: SQLInputValue[], { job, queue }: Placed, now: number): void {
  for (const { key, write } of WRITERS) values.push(key === 'queue' ? queue : write(job[key]));
  values.push(jsonOrNull(job.hooks), jsonOrNull(job.policy), jsonOrNull(startColumn(job)));
  const due = job.runAt ?? now;
  values.push(job.dependsOn.length, phaseOf(job, due, now), now, now, due);
}

export function writerOf(field: NamedField): (value: unknown) => SQLInputValue {
  if (isJson(field)) return jsonOrNull;
  if (field.type!.type === 'boolean') return (value) => (value ? 1 : 0);
  return (value) => value as SQLInputValue;
}

function phaseOf(job: JobSpec, due: number, now: number): string {
  if (job.hold) return 'held';
  if (job.dependsOn.length > 0) return 'blocked';
  return due > now ? 'waiting' : 'ready';
}

function startColumn(job: JobSpec): Record<string, unknown> {
  const start: Record<string, unknown> = {};
  for (const { key, default: unset } of STARTS) {
    const value = job[key as keyof JobSpec];
    if (value !== unset && !isEmpty(value)) start[key] = value;
  }
  if (job.stdin !== null) start.stdinBytes = Buffer.byteLength(job.stdin);
  return start;
}

function jsonOrNull(value: unknown): string | null {
  return value === null || isEmpty(value) ? null : JSON.stringify(value);
}

/** True for an array or an object without elements. */
function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  for (const _ in value) return false;
  return true;
}

/** What queuectl knows about a job that nothing has happened to. */
export const UNTOUCHED = {
  stdinBytes: 0,
  state: 'pending',
  held: false,
  blocked: false,
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

/** Returns a job as it was just written, without reading it back. */
export function newJob(spec: JobSpec, now: number): Job {
  return {
    ...spec,
    ...UNTOUCHED,
    stdinBytes: Buffer.byteLength(spec.stdin ?? ''),
    held: spec.hold === true,
    blocked: !spec.hold && spec.dependsOn.length > 0,
    createdAt: now,
    updatedAt: now,
    dueAt: spec.runAt ?? now,
  };
}
