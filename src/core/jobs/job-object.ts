import { signalOf } from '../rules/decide.ts';
import { toIso } from '../time/time.ts';
import type { TypeOf } from '../wire/schema.ts';
import type { PrintedOf } from './field.ts';
import { compareByOrder, fieldValue, JOB_FACTS, KEPT_FIELDS } from './field-list.ts';
import type { JOB_FIELDS } from './job-fields.ts';
import type { JobWithReason } from './waiting-reason.ts';

/** A job in JSON. The command line, the library and the HTTP API all show jobs in this form. */
export interface JobObject extends PrintedOf<typeof JOB_FIELDS>, Facts {
  /** Is present only if an enqueue returned this earlier job with the same key instead of adding one. */
  existing?: true;
}

type Facts = { [K in keyof typeof JOB_FACTS]: TypeOf<(typeof JOB_FACTS)[K]> };

/** The order of the fields in a printed job. A field that is not listed follows the others. */
const FIELD_ORDER =
  `id command argv state attempts max_retries created_at updated_at queue priority run_at next_run_at timeout_ms
  backoff_base depends_on on_parent_failure unique_key name tags retry_on no_retry_on at_most_once backoff
  retry_delay_ms backoff_max_ms jitter on_complete on_failure on_dead cwd env secret_env split_output clean_env stdin
  stdin_bytes worker_id pid started_at finished_at exit_code signal last_error crashes duration_ms waiting_for`.split(
    /\s+/,
  );

/** Returns the names of all fields of a printed job, in order. */
export function printedFieldNames(): string[] {
  return [...KEPT_FIELDS.map(({ name }) => name), ...Object.keys(JOB_FACTS)].sort(
    compareByOrder(FIELD_ORDER),
  );
}

/** A printed job without values. It has all fields in their order. It is made on first use. */
let blank: object | undefined;

function makeBlank(): object {
  const object = Object.fromEntries(printedFieldNames().map((name) => [name, null as unknown]));
  for (const { name, type } of KEPT_FIELDS) if (type!.type === 'boolean') object[name] = false;
  return object;
}

/** Converts a job for users. */
export function toJobObject(job: JobWithReason): JobObject {
  blank ??= makeBlank();
  const object: Record<string, unknown> = { ...blank };
  for (const field of KEPT_FIELDS) {
    const value = fieldValue(job, field) ?? null;
    if (value !== null) object[field.name] = field.print === undefined ? value : field.print(value as never);
  }
  setFacts(job, object as unknown as Facts);
  if (job.existing) object.existing = true;
  return object as unknown as JobObject;
}

function setFacts(job: JobWithReason, object: Facts): void {
  object.state = job.state;
  object.attempts = job.attempts;
  object.created_at = toIso(job.createdAt);
  object.updated_at = toIso(job.updatedAt);
  // A blocked job waits for another job, whose end cannot be predicted.
  object.next_run_at = job.blocked ? null : toIso(job.dueAt);
  object.waiting_for = job.waitingFor;
  object.stdin_bytes = job.stdinBytes;
  object.worker_id = job.workerId;
  // The store does not hold the pid. An action on the machine that runs the job fills it in.
  object.pid = null;
  object.started_at = toIso(job.startedAt);
  object.finished_at = toIso(job.finishedAt);
  object.exit_code = job.exitCode;
  object.signal = signalOf(job.exitCode);
  object.last_error = job.lastError;
  object.crashes = job.crashes;
  object.duration_ms = job.durationMs;
}
