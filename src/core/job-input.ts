import { camelCase, type InputOf, type NamedField } from './field.ts';
import { FIELDS } from './field-list.ts';
import { asksForConfinement, factNamed, isOfPrintedJob } from './foreign-fields.ts';
import type { JobHooks, JobPolicy, Uniqueness } from './job.ts';
import { JOB_FIELDS } from './job-fields.ts';
import { nearest } from './nearest.ts';
import { invalid, kindOf } from './read-value.ts';

/** The fields that a user has set. The action fills in the others. */
export interface JobInput extends InputOf<typeof JOB_FIELDS> {
  hooks?: JobHooks;
  policy?: JobPolicy;
  unique?: { [K in keyof Uniqueness]?: NonNullable<Uniqueness[K]> };
  /** The delay until `runAt`, if the user gave a delay. */
  delayMs?: number;
}

/** Reads one field. All readers have the same shape, because each value of a long file passes through one. */
interface Reader {
  key: string;
  group: NamedField['in'];
  read: NamedField['read'];
  isRelative: ((value: unknown) => boolean) | null;
}

const BY_NAME = new Map<string, Reader>();
for (const { name, key, in: group, read, isRelative = null, spellings = [] } of FIELDS) {
  const reader: Reader = { key, group, read, isRelative };
  BY_NAME.set(name, reader).set(camelCase(name), reader);
  for (const spelling of spellings) BY_NAME.set(spelling, reader);
}

export interface ReadJob {
  input: JobInput;
  warnings: readonly string[];
}

const NO_WARNINGS: readonly string[] = [];

/** Reads one job object. Throws on the first thing that is wrong; unknown fields are only a warning, unless it is `strict`. */
export function readJobObject(value: unknown, now: number, strict = false): ReadJob {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`a job must be a JSON object, not ${kindOf(value)}`);
  }
  const input: JobInput = {};
  let warnings: string[] | null = null;
  const unset: Reader[] = [];
  let printed = false;
  /** The name under which the object gives the time of its next attempt. */
  let nextRun: string | null = null;
  for (const name of Object.keys(value)) {
    const raw = (value as Record<string, unknown>)[name];
    const reader = BY_NAME.get(name);
    if (reader === undefined) {
      if (isOfPrintedJob(name)) {
        printed = true;
        if (raw !== null && factNamed(name) === 'next_run_at') nextRun = name;
        continue;
      }
      if (asksForConfinement(name))
        throw invalid(
          `'${name}' is not supported: queuectl cannot confine a job`,
          'confine the worker instead',
        );
      if (strict) throw invalid(unknownField(name, '', true));
      warnings ??= [];
      warnings.push(unknownField(name, ' was ignored', warnings.length < GUESSED));
      continue;
    }
    // Null stands for "not given": queuectl prints it so.
    if (raw === null) continue;
    const { key, group } = reader;
    const holder = (group === undefined ? input : input[group]) as Record<string, unknown> | undefined;
    if ((holder !== undefined && key in holder) || (unset.length > 0 && unset.includes(reader)))
      throw twice(reader, name, value);
    const read = reader.read(raw, name, now);
    if (read === undefined) unset.push(reader);
    else if (holder !== undefined) holder[key] = read;
    else input[group!] = { [key]: read };
    if (reader.isRelative?.(raw)) input.delayMs = input.runAt! - now;
  }
  if (nextRun !== null && input.runAt === undefined) {
    const at = JOB_FIELDS.run_at.read((value as Record<string, unknown>)[nextRun], nextRun, now);
    if (at > now) input.runAt = at;
  }
  refuseUnread(value as Record<string, unknown>, input);
  // An older version printed at-most-once jobs with several attempts, which nobody asks for now.
  if (printed) limitAttempts(input);
  checkAtMostOnce(input);
  return { input, warnings: warnings ?? NO_WARNINGS };
}

/** Merges two inputs. The second one wins, also for each property of `hooks` and `policy`. */
export function withChanges(before: JobInput, given: JobInput): JobInput {
  const merged = { ...before, ...given };
  if (given.hooks !== undefined) merged.hooks = { ...before.hooks, ...given.hooks };
  if (given.policy !== undefined) merged.policy = { ...before.policy, ...given.policy };
  return merged;
}

/** Leaves an at-most-once job with one attempt at most. */
export function limitAttempts(input: JobInput): void {
  if (input.policy?.atMostOnce && input.maxRetries !== undefined)
    input.maxRetries = Math.min(1, input.maxRetries);
}

/** Throws if an at-most-once job is given more than one attempt. */
export function checkAtMostOnce({ policy, maxRetries = 1 }: Pick<JobInput, 'policy' | 'maxRetries'>): void {
  if (policy?.atMostOnce && maxRetries > 1)
    throw invalid(
      `max_retries is ${maxRetries}, but an at-most-once job has only one attempt`,
      'omit max_retries, or enqueue the job without at_most_once',
    );
}

function twice(reader: Reader, name: string, value: object): Error {
  const twin = twinOf(reader, value);
  return invalid(
    twin === name
      ? `${name} conflicts with another field`
      : `${twin} and ${name} mean the same; give only one of them`,
  );
}

/** A printed job whose stdin nobody had read is not the whole of it: added again, it would run without. */
function refuseUnread({ stdin_bytes: bytes }: Record<string, unknown>, input: JobInput): void {
  if (typeof bytes === 'number' && bytes > 0 && input.stdin === undefined)
    throw invalid(
      `stdin is missing: the job had ${bytes} bytes of it`,
      'get the complete job from: queuectl show ID --json',
    );
}

/** Returns the first name under which the field was given. */
function twinOf(reader: Reader, value: object): string | undefined {
  return Object.entries(value).find(([name, raw]) => raw !== null && BY_NAME.get(name) === reader)?.[0];
}

/** A guess costs more than all the rest, and nobody reads thousands of them. */
const GUESSED = 20;

function unknownField(name: string, what: string, guessing: boolean): string {
  const guess = guessing ? nearest(name, BY_NAME.keys()) : null;
  return `unknown field '${name}'${what}${guess === null ? '' : `; did you mean '${guess}'?`}`;
}
