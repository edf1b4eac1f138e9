import { FIELDS, type Field, type JobInput } from './job-fields.ts';
import { nearest } from './nearest.ts';
import { invalid, kindOf } from './read-value.ts';

const BY_NAME = new Map(FIELDS.flatMap((field) => field.names.map((name) => [name, field] as const)));

/** Taken and ignored, so that a job object printed by queuectl can be enqueued again. */
const SERVER_OWNED = new Set(
  `state attempts created_at updated_at next_run_at worker_id started_at finished_at exit_code signal last_error
   crashes duration_ms stdin_bytes history existing schema_version createdAt updatedAt nextRunAt`.split(
    /\s+/,
  ),
);

export interface ReadJob {
  input: JobInput;
  warnings: readonly string[];
}

const NO_WARNINGS: readonly string[] = [];
/** Fields of other tools. Ignoring one would run a command with more rights than its author asked for. */
const CONFINEMENT = new Set(
  'sandbox user uid gid group memory_limit cpu_limit network chroot container isolation cgroup seccomp'.split(
    ' ',
  ),
);

/** Reads one job object. Throws on the first thing that is wrong; unknown fields are only a warning, unless it is `strict`. */
export function readJobObject(value: unknown, now: number, strict = false): ReadJob {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`a job must be a JSON object, not ${kindOf(value)}`);
  }
  const input: JobInput = {};
  let warnings: string[] | null = null;
  const gathered: Field[] = [];
  let printed = false;
  for (const name of Object.keys(value)) {
    const raw = (value as Record<string, unknown>)[name];
    const field = BY_NAME.get(name);
    if (field === undefined) {
      if (SERVER_OWNED.has(name)) {
        printed = true;
        continue;
      }
      if (CONFINEMENT.has(name))
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
    const keyed = 'key' in field;
    if (keyed ? field.key in input : gathered.includes(field)) throw twice(field, name, value);
    if (keyed) (input as Record<string, unknown>)[field.key] = field.value(raw, name);
    else {
      gathered.push(field);
      add(input, field.read(raw, name, now), name);
    }
  }
  refuseUnread(value as Record<string, unknown>, input);
  // An older version printed at-most-once jobs with several attempts, which nobody asks for now.
  if (printed) limitAttempts(input);
  checkAtMostOnce(input);
  return { input, warnings: warnings ?? NO_WARNINGS };
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

function twice(field: Field, name: string, value: object): Error {
  const twin = twinOf(field, value);
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

/** Several fields make one of these; of the others each is given once. */
const GATHERED = new Set(['hooks', 'policy', 'unique']);

function add(to: JobInput, part: JobInput, name: string): void {
  const input = to as Record<string, unknown>;
  for (const key in part) {
    if (GATHERED.has(key))
      input[key] = gather(input[key] as object, part[key as keyof JobInput] as object, name);
    else if (key in input) throw invalid(`${name} conflicts with another field`);
    else input[key] = part[key as keyof JobInput];
  }
}

function gather(known: object | undefined, more: object, name: string): object {
  for (const key in more)
    if (known !== undefined && key in known) throw invalid(`${name} conflicts with another field`);
  return { ...known, ...more };
}

/** The first name under which the field was given. */
function twinOf(field: Field, value: object): string | undefined {
  return Object.entries(value).find(([name, raw]) => raw !== null && BY_NAME.get(name) === field)?.[0];
}

/** A guess costs more than all the rest, and nobody reads thousands of them. */
const GUESSED = 20;

function unknownField(name: string, what: string, guessing: boolean): string {
  const guess = guessing ? nearest(name, BY_NAME.keys()) : null;
  return `unknown field '${name}'${what}${guess === null ? '' : `; did you mean '${guess}'?`}`;
}
