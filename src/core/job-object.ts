import type { PrintedOf } from './field.ts';
import { KEPT, listedFirst, type NamedField, printedSchema } from './field-list.ts';
import { type Job, STATES } from './job.ts';
import type { JOB_FIELDS } from './job-fields.ts';
import { signalOf } from './outcome.ts';
import { integer, maybe, oneOf, record, type Schema, type TypeOf, text, time } from './schema.ts';
import { toIso } from './time.ts';

interface Fact<T = unknown> {
  type: Schema<T>;
  print(job: Job): T;
}
const fact = <T>(type: Schema<T>, print: (job: Job) => T): Fact<T> => ({ type, print });

/** The fields of a printed job that queuectl sets. */
const FACTS = {
  state: fact(oneOf(STATES), (job) => job.state),
  attempts: fact(integer, (job) => job.attempts),
  created_at: fact(time, (job) => toIso(job.createdAt)),
  updated_at: fact(time, (job) => toIso(job.updatedAt)),
  // Nobody can tell when the job that it waits for will end.
  next_run_at: fact(maybe(time), (job) => (job.blocked ? null : toIso(job.dueAt))),
  stdin_bytes: fact(integer, (job) => job.stdinBytes),
  worker_id: fact(maybe(text), (job) => job.workerId),
  started_at: fact(maybe(time), (job) => toIso(job.startedAt)),
  finished_at: fact(maybe(time), (job) => toIso(job.finishedAt)),
  exit_code: fact(maybe(integer), (job) => job.exitCode),
  signal: fact(maybe(text), (job) => signalOf(job.exitCode)),
  last_error: fact(maybe(text), (job) => job.lastError),
  crashes: fact(integer, (job) => job.crashes),
  duration_ms: fact(maybe(integer), (job) => job.durationMs),
};

/** A job as everybody outside sees it. The command line, the library and the HTTP API show this and nothing else. */
export interface JobObject extends PrintedOf<typeof JOB_FIELDS>, Facts {
  /** Is present only if an enqueue added nothing because this job has the same key. */
  existing?: true;
}

type Facts = { [K in keyof typeof FACTS]: TypeOf<(typeof FACTS)[K]['type']> };

/** The order of the fields in a printed job. A field that is not listed follows the others. */
const ORDER =
  `id command argv state attempts max_retries created_at updated_at queue priority run_at next_run_at timeout_ms
  backoff_base depends_on on_parent_failure unique_key name tags retry_on no_retry_on at_most_once backoff
  retry_delay_ms backoff_max_ms jitter on_complete on_failure on_dead cwd env secret_env split_output clean_env stdin
  stdin_bytes worker_id started_at finished_at exit_code signal last_error crashes duration_ms`.split(/\s+/);

const printed: [name: string, fact: Fact][] = [
  ...KEPT.map((field): [string, Fact] => [field.name, printField(field)]),
  ...Object.entries<Fact>(FACTS),
];
const compare = listedFirst(ORDER);
const PRINTED = printed
  .map(([name, one]) => ({ name, type: one.type, print: one.print }))
  .sort((a, b) => compare(a.name, b.name));

/** Returns a fact with the value of a field. */
function printField(field: NamedField): Fact {
  const { key, in: group, print = (value: unknown) => value } = field;
  const type = printedSchema(field);
  const unset = type.type === 'boolean' ? false : null;
  const convert = print as (value: unknown) => unknown;
  if (group === undefined) return { type, print: (job) => convert(job[key as keyof Job]) };
  return { type, print: (job) => convert((job[group] as Record<string, unknown> | null)?.[key] ?? unset) };
}

export const FACT_NAMES = Object.keys(FACTS);
export const PRINTED_NAMES = PRINTED.map(({ name }) => name);
export const JOB_SCHEMA = record(Object.fromEntries(PRINTED.map(({ name, type }) => [name, type])));
const NOTHING = Object.fromEntries(PRINTED.map(({ name }) => [name, null]));

export function toJobObject(job: Job): JobObject {
  const object: Record<string, unknown> = { ...NOTHING };
  for (const { name, print } of PRINTED) object[name] = print(job);
  if (job.existing) object.existing = true;
  return object as unknown as JobObject;
}
