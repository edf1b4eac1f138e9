import type { PrintedOf } from './field.ts';
import { JOB_DEFAULTS, KEPT, listedFirst } from './field-list.ts';
import type { Job } from './job.ts';
import { JOB_FACTS } from './job-facts.ts';
import type { JOB_FIELDS } from './job-fields.ts';
import { signalOf } from './outcome.ts';
import type { TypeOf } from './schema.ts';
import { toIso } from './time.ts';

/** A job in JSON. The command line, the library and the HTTP API all show jobs in this form. */
export interface JobObject extends PrintedOf<typeof JOB_FIELDS>, Facts {
  /** Is present only if an enqueue added nothing because this job has the same key. */
  existing?: true;
}

type Facts = { [K in keyof typeof JOB_FACTS]: TypeOf<(typeof JOB_FACTS)[K]> };

/** The order of the fields in a printed job. A field that is not listed follows the others. */
const ORDER =
  `id command argv state attempts max_retries created_at updated_at queue priority run_at next_run_at timeout_ms
  backoff_base depends_on on_parent_failure unique_key name tags retry_on no_retry_on at_most_once backoff
  retry_delay_ms backoff_max_ms jitter on_complete on_failure on_dead cwd env secret_env split_output clean_env stdin
  stdin_bytes worker_id pid started_at finished_at exit_code signal last_error crashes duration_ms`.split(
    /\s+/,
  );

/** Returns the names of all fields of a printed job, in order. */
export function printedNames(): string[] {
  return [...KEPT.map(({ name }) => name), ...Object.keys(JOB_FACTS)].sort(listedFirst(ORDER));
}

/** Prepares what `toJobObject` needs. Most commands print no job object, so it is done at the first one. */
function prepare() {
  const printers = KEPT.map(({ name, key, in: group, print = null, type }) => ({
    name,
    key,
    group,
    print: print as ((value: unknown) => unknown) | null,
    unset: group === undefined ? JOB_DEFAULTS[key] : type!.type === 'boolean' ? false : null,
  }));
  const inGroup = (wanted: (typeof GROUPS)[number] | undefined) =>
    printers.filter(({ group }) => group === wanted);
  return {
    own: inGroup(undefined),
    groups: GROUPS.map((group) => ({ group, unset: JOB_DEFAULTS[group], printers: inGroup(group) })),
    /** A printed job that sets nothing. It has all fields in their order. */
    nothing: {
      ...Object.fromEntries(printedNames().map((name) => [name, null])),
      ...Object.fromEntries(printers.map(({ name, unset, print }) => [name, print ? print(unset) : unset])),
    },
  };
}

const GROUPS = ['hooks', 'policy', 'unique'] as const;
let prepared: ReturnType<typeof prepare> | undefined;

/** Converts a job for users. It skips what the job does not set, because long lists convert many jobs. */
export function toJobObject(job: Job): JobObject {
  prepared ??= prepare();
  const object: Record<string, unknown> = { ...prepared.nothing };
  for (const { name, key, print, unset } of prepared.own) {
    const value = job[key as keyof Job];
    if (value !== unset) object[name] = print === null ? value : print(value);
  }
  for (const { group, unset, printers } of prepared.groups) {
    const values = job[group] as Record<string, unknown> | null;
    if (values === unset || values === null) continue;
    for (const { name, key } of printers) if (values[key] !== undefined) object[name] = values[key];
  }
  printFacts(job, object as unknown as Facts);
  if (job.existing) object.existing = true;
  return object as unknown as JobObject;
}

function printFacts(job: Job, object: Facts): void {
  object.state = job.state;
  object.attempts = job.attempts;
  object.created_at = toIso(job.createdAt);
  object.updated_at = toIso(job.updatedAt);
  // A blocked job waits for another job, whose end cannot be predicted.
  object.next_run_at = job.blocked ? null : toIso(job.dueAt);
  object.stdin_bytes = job.stdinBytes;
  object.worker_id = job.workerId;
  // Only the machine that runs the job can tell.
  object.pid = null;
  object.started_at = toIso(job.startedAt);
  object.finished_at = toIso(job.finishedAt);
  object.exit_code = job.exitCode;
  object.signal = signalOf(job.exitCode);
  object.last_error = job.lastError;
  object.crashes = job.crashes;
  object.duration_ms = job.durationMs;
}
