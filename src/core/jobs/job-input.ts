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

/** Reads one field. All readers have the same properties, because that is faster for long files. */
interface Reader {
  key: string;
  group: NamedField['in'];
  read: NamedField['read'];
  isRelative: ((value: unknown) => boolean) | null;
}

let knownReaders: Map<string, Reader> | null = null;

/** Returns the readers by all names of their fields. They are made on first use, because a plain command needs none. */
function readersByName(): Map<string, Reader> {
  if (knownReaders !== null) return knownReaders;
  knownReaders = new Map();
  for (const { name, key, in: group, read, isRelative = null, spellings = [] } of FIELDS) {
    const reader: Reader = { key, group, read, isRelative };
    knownReaders.set(name, reader).set(camelCase(name), reader);
    for (const spelling of spellings) knownReaders.set(spelling, reader);
  }
  return knownReaders;
}

/** The result of reading a job object. */
export interface ReadJob {
  input: JobInput;
  warnings: readonly string[];
}

const NO_WARNINGS: readonly string[] = [];

/** Reads a job object, which may be a printed job. Throws at the first error. If `strict`, an unknown field is an error. */
export function readJobObject(value: unknown, now: number, strict = false): ReadJob {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(`a job must be a JSON object, not ${kindOf(value)}`);
  }
  const input: JobInput = {};
  let warnings: string[] | null = null;
  /** The readers of fields that were given a value which means the same as an absent field. */
  const readersWithoutValue: Reader[] = [];
  /** The name that the object uses for `next_run_at`, if it has that field. */
  let nextRunName: string | null = null;
  const names = Object.keys(value);
  if (names.length === 0) return { input, warnings: NO_WARNINGS };
  const readers = readersByName();
  for (const name of names) {
    const raw = (value as Record<string, unknown>)[name];
    const reader = readers.get(name);
    if (reader === undefined) {
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
      warnings ??= [];
      warnings.push(unknownFieldText(name, ' was ignored', warnings.length < MAX_GUESSES));
      continue;
    }
    // queuectl prints null for a field that is not set, and a program may pass undefined.
    if (raw === null || raw === undefined) continue;
    const { key, group } = reader;
    const holder = (group === undefined ? input : input[group]) as Record<string, unknown> | undefined;
    if (
      (holder !== undefined && key in holder) ||
      (readersWithoutValue.length > 0 && readersWithoutValue.includes(reader))
    )
      throw givenTwiceError(reader, name, value);
    const read = reader.read(raw, name, now);
    if (read === undefined) readersWithoutValue.push(reader);
    else if (holder !== undefined) holder[key] = read;
    else input[group!] = { [key]: read };
    if (key !== 'runAt') continue;
    input.runAtFrom = (present) => reader.read(raw, name, present) as number;
    if (reader.isRelative!(raw)) input.delayMs = input.runAt! - now;
  }
  if (nextRunName !== null && input.runAt === undefined) {
    const at = JOB_FIELDS.run_at.read((value as Record<string, unknown>)[nextRunName], nextRunName, now);
    input.runAtFrom = (present) => (at > present ? at : null);
    if (at > now) input.runAt = at;
  }
  checkStdinIncluded(value as Record<string, unknown>, input);
  checkAtMostOnce(input);
  return { input, warnings: warnings ?? NO_WARNINGS };
}

/** Merges two inputs. The values in `given` win. In `hooks` and `policy`, each property is merged on its own. `unique` is replaced. */
export function withChanges(base: JobInput, given: JobInput): JobInput {
  const merged = { ...base, ...given };
  if (given.hooks !== undefined) merged.hooks = { ...base.hooks, ...given.hooks };
  if (given.policy !== undefined) merged.policy = { ...base.policy, ...given.policy };
  return merged;
}

/** Returns the error for a second field that sets the same value, such as `delay` after `run_at`. */
function givenTwiceError({ key, group }: Reader, name: string, value: object): Error {
  const isTwin = ([other, raw]: [string, unknown]): boolean => {
    const reader = readersByName().get(other);
    return other !== name && raw != null && reader?.key === key && reader.group === group;
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
  return `unknown field '${name}'${consequence}${withGuess ? didYouMean(name, readersByName().keys()) : ''}`;
}
