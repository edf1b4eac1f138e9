import { didYouMean } from '../text/nearest.ts';
import { checkAtMostOnce } from './enqueue-rules.ts';
import { camelCase, type InputOf, type NamedField } from './field.ts';
import { FIELDS } from './field-list.ts';
import { asksForConfinement, factNamed, isPrintedOnly } from './foreign-fields.ts';
import type { JobHooks, JobPolicy, Uniqueness } from './job.ts';
import { JOB_FIELDS } from './job-fields.ts';
import { invalid, kindOf } from './read-field.ts';
import { removedField } from './removed-names.ts';

/** The fields that a user has set. The action fills in the others. */
export interface JobInput extends InputOf<typeof JOB_FIELDS> {
  hooks?: JobHooks;
  policy?: JobPolicy;
  unique?: { [K in keyof Uniqueness]?: NonNullable<Uniqueness[K]> };
  /** The delay until `runAt`, if the user gave a delay or a relative time. */
  delayMs?: number;
  /** Returns `runAt` at another present. The action calls it with the clock of the store, from which that of this host may differ. */
  runAtFrom?: (now: number) => number | null;
}

let knownFields: Map<string, NamedField> | null = null;

/** Returns the fields by all their names. The map is made on first use, because a plain command needs none. */
function fieldsByName(): Map<string, NamedField> {
  if (knownFields !== null) return knownFields;
  knownFields = new Map();
  for (const field of FIELDS)
    for (const name of [field.name, camelCase(field.name), ...(field.spellings ?? [])])
      knownFields.set(name, field);
  return knownFields;
}

/** The result of reading a job object. */
export interface ReadJob {
  input: JobInput;
  warnings: readonly string[];
}

/** Reads a job object, which may be a printed job. Throws at the first error. If `strict`, an unknown field is an error. */
export function readJobObject(value: unknown, now: number, strict = false): ReadJob {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`a job must be a JSON object, not ${kindOf(value)}`);
  }
  const input: JobInput = {};
  const warnings: string[] = [];
  /** The fields that were given a value which means the same as an absent field. */
  const withoutValue: NamedField[] = [];
  /** The name that the object uses for `next_run_at`, if it has that field. */
  let nextRunName: string | null = null;
  for (const name of Object.keys(value)) {
    const raw = (value as Record<string, unknown>)[name];
    const field = fieldsByName().get(name);
    if (field === undefined) {
      if (isPrintedOnly(name)) {
        if (raw !== null && factNamed(name) === 'next_run_at') nextRunName = name;
        continue;
      }
      if (asksForConfinement(name))
        throw invalid(
          `'${name}' is not supported: a job runs with the permissions and limits of its worker`,
          'restrict the worker instead, for example with systemd or a container',
        );
      const removed = removedField(name, raw);
      // Older versions printed null for a removed field that was not set.
      if (removed !== null && raw === null) continue;
      if (removed !== null) throw invalid(removed.message, removed.hint);
      if (strict) throw invalid(unknownFieldText(name, '', true));
      warnings.push(unknownFieldText(name, ' was ignored', warnings.length < MAX_GUESSES));
      continue;
    }
    // queuectl prints null for a field that is not set, and a program may pass undefined.
    if (raw === null || raw === undefined) continue;
    const { key, in: group } = field;
    const holder = (group === undefined ? input : input[group]) as Record<string, unknown> | undefined;
    if ((holder !== undefined && key in holder) || withoutValue.includes(field))
      throw givenTwiceError(field, name, value);
    const read = field.read(raw, name, now);
    if (read === undefined) withoutValue.push(field);
    else if (holder !== undefined) holder[key] = read;
    else input[group!] = { [key]: read };
    if (key !== 'runAt') continue;
    input.runAtFrom = (present) => field.read(raw, name, present) as number;
    if (field.isRelative?.(raw)) input.delayMs = input.runAt! - now;
  }
  if (nextRunName !== null && input.runAt === undefined) {
    const at = JOB_FIELDS.run_at.read((value as Record<string, unknown>)[nextRunName], nextRunName, now);
    input.runAtFrom = (present) => (at > present ? at : null);
    if (at > now) input.runAt = at;
  }
  checkStdinIncluded(value as Record<string, unknown>, input);
  checkAtMostOnce(input);
  return { input, warnings };
}

/** Merges two inputs. The values in `given` win. In `hooks` and `policy`, each property is merged on its own. `unique` is replaced. */
export function withChanges(base: JobInput, given: JobInput): JobInput {
  const merged = { ...base, ...given };
  if (given.hooks !== undefined) merged.hooks = { ...base.hooks, ...given.hooks };
  if (given.policy !== undefined) merged.policy = { ...base.policy, ...given.policy };
  return merged;
}

/** Returns the error for a second field that sets the same value, such as `delay` after `run_at`. */
function givenTwiceError({ key, in: group }: NamedField, name: string, value: object): Error {
  const isTwin = ([other, raw]: [string, unknown]): boolean => {
    const field = fieldsByName().get(other);
    return other !== name && raw != null && field?.key === key && field.in === group;
  };
  return invalid(`${name} and ${Object.entries(value).find(isTwin)![0]} cannot be used together`);
}

/** Throws for a printed job whose stdin was left out, as in lists, because it would run without its input. */
function checkStdinIncluded({ stdin_bytes: bytes }: Record<string, unknown>, input: JobInput): void {
  if (typeof bytes === 'number' && bytes > 0 && input.stdin === undefined)
    throw invalid(
      `stdin is missing: the original job had ${bytes} bytes of standard input`,
      'to get the complete job: queuectl show ID --json',
    );
}

/** Only this many warnings suggest a similar field, because searching is slow and nobody reads thousands of warnings. */
const MAX_GUESSES = 20;

function unknownFieldText(name: string, consequence: string, withGuess: boolean): string {
  return `unknown field '${name}'${consequence}${withGuess ? didYouMean(name, fieldsByName().keys()) : ''}`;
}
