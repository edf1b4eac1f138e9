import type { SQLInputValue } from 'node:sqlite';
import type { Job, JobSpec } from '../../core/job.ts';
import type { StartColumn } from './rows.ts';

/** A job and the number of its queue. */
export interface Placed {
  job: JobSpec;
  queue: number;
}

/** Says nothing that sql.insertPlainJobs leaves out. */
export function isPlain(job: JobSpec): boolean {
  return (
    job.argv === null &&
    job.runAt === null &&
    job.backoffBase === null &&
    job.name === null &&
    job.dependsOn.length === 0 &&
    job.secretEnv.length === 0 &&
    !job.splitOutput &&
    !job.cleanEnv &&
    isEmpty(job.env) &&
    isEmpty(job.tags) &&
    isEmpty(job.hooks) &&
    isEmpty(job.policy)
  );
}

/** Adds the values of sql.insertPlainJobs: no array of its own for each of many. */
export function pushPlain(values: SQLInputValue[], { job, queue }: Placed, now: number): void {
  const { id, command, priority, maxRetries, timeoutMs, cwd } = job;
  values.push(id, command, queue, priority, maxRetries, timeoutMs, cwd, now, now, now);
}

/** The values of sql.insertJob. */
export function jobRow({ job, queue }: Placed, now: number): SQLInputValue[] {
  const due = job.runAt ?? now;
  const parents = job.dependsOn.length;
  return [
    ...[job.id, job.command, job.argv === null ? null : JSON.stringify(job.argv), queue],
    ...[job.priority, job.maxRetries, job.timeoutMs, job.runAt, job.backoffBase],
    ...[
      job.cwd,
      jsonOrNull(job.env),
      jsonOrNull(job.tags),
      job.name,
      jsonOrNull(job.hooks),
      jsonOrNull(job.policy),
      jsonOrNull(startColumn(job)),
    ],
    ...[parents === 0 ? null : JSON.stringify(job.dependsOn), parents],
    ...[phaseOf(job, due, now), now, now, due],
  ];
}

function phaseOf(job: JobSpec, due: number, now: number): string {
  if (job.dependsOn.length > 0) return 'blocked';
  return due > now ? 'waiting' : 'ready';
}

function startColumn({ secretEnv, splitOutput, cleanEnv, stdin }: JobSpec): StartColumn {
  return {
    ...(secretEnv.length === 0 ? {} : { secretEnv }),
    ...(splitOutput ? { splitOutput } : {}),
    ...(cleanEnv ? { cleanEnv } : {}),
    ...(stdin === null ? {} : { stdinBytes: Buffer.byteLength(stdin) }),
  };
}

function jsonOrNull(object: object): string | null {
  return isEmpty(object) ? null : JSON.stringify(object);
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false;
  return true;
}

/** What was written just now, without reading it back. */
export function newJob(spec: JobSpec, now: number): Job {
  return {
    ...spec,
    stdinBytes: Buffer.byteLength(spec.stdin ?? ''),
    state: 'pending',
    held: false,
    blocked: spec.dependsOn.length > 0,
    attempts: 0,
    crashes: 0,
    createdAt: now,
    updatedAt: now,
    dueAt: spec.runAt ?? now,
    workerId: null,
    startedAt: null,
    finishedAt: null,
    exitCode: null,
    lastError: null,
    durationMs: null,
  };
}
