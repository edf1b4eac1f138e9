import { readFileSync } from 'node:fs';
import { invalidValue, QueueError, usageError } from '../../core/errors.ts';
import { readAfterFlag, readDependencies } from '../../core/jobs/dependencies.ts';
import { kebab, type NamedField } from '../../core/jobs/field.ts';
import { FIELDS } from '../../core/jobs/field-list.ts';
import { readTag } from '../../core/jobs/filter.ts';
import { withoutDefaultHooks } from '../../core/jobs/hooks.ts';
import { type JobInput, readJobObject, withChanges } from '../../core/jobs/job-input.ts';
import { type NumberRange, parseNumber } from '../../core/text/numbers.ts';
import { type Context, type Flag, type Input, inGroup } from './command.ts';
import { readStdinFlag, unreadableError } from './text-file.ts';

interface FieldFlag {
  name: string;
  flag: Flag;
  field: NamedField;
}

/** Parses a flag of the table of job fields, such as `--priority -p N  help`. */
function fieldFlag(field: NamedField, line: string): FieldFlag {
  const [form, help] = line.split('  ', 2) as [string, string];
  const [dashes, ...rest] = form.split(' ');
  const name = dashes!.slice(2);
  const flag: Flag = { help };
  for (const word of rest) {
    if (word.startsWith('-')) flag.short = word.slice(1);
    else flag.value = word;
  }
  if (field.many) flag.many = true;
  if (field.heading !== undefined) flag.group = field.heading;
  // A flag such as --set-queue has no other names, because they would be names of the filter --queue.
  const otherNames = (): string[] => [field.name, ...(field.spellings ?? [])].map(kebab);
  if (!name.startsWith('set-')) flag.aliases = () => otherNames().filter((one) => one !== name);
  return { name, flag, field };
}

const fieldFlagsBy = (lineOf: (field: NamedField) => string | undefined): FieldFlag[] =>
  FIELDS.flatMap((field) => {
    const line = lineOf(field);
    return line === undefined ? [] : [fieldFlag(field, line)];
  });
/** Returns the flags that set the fields of a new job. */
const fieldFlags = (): FieldFlag[] => fieldFlagsBy(({ flag }) => flag);
const editFieldFlags = (): FieldFlag[] =>
  fieldFlagsBy(({ edit, flag }) => (typeof edit === 'string' ? edit : edit && flag));

const envFlags = (): Record<string, Flag> =>
  inGroup(FIELDS.find((field) => field.name === 'env')!.heading!, {
    'env-file': {
      value: 'FILE',
      help: 'read environment variables from a file with one NAME=VALUE per line',
    },
    'inherit-env': {
      value: 'A,B',
      many: true,
      help: "copy these variables from the current environment; '*' copies all, and 'LC_*' those that start so",
    },
  });

function toFlags(flags: FieldFlag[]): Record<string, Flag> {
  const byName: Record<string, Flag> = {};
  for (const { name, flag } of flags) {
    byName[name] = flag;
    if (name === 'env') Object.assign(byName, envFlags());
  }
  return byName;
}

/** Returns the flags that describe a job. Each sets a field of a job object, which is checked as in JSON. */
export const jobFlags = () => toFlags(fieldFlags());
export const scheduledJobFlags = () => toFlags(fieldFlags().filter(({ field }) => !field.unscheduled));
export const editFlags = () => withoutDefaults(toFlags(editFieldFlags()));

/** Removes the defaults from the help of flags that change something, because a value that is not given stays the same. */
export function withoutDefaults(flags: Record<string, Flag>): Record<string, Flag> {
  const help = (flag: Flag): string =>
    flag.help.replace(/ \(default: [^()]*\)$/, '').replace(', the default)', ')');
  return Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [name, { ...flag, help: help(flag) }]),
  );
}

/** Fields whose flags are not read by `readFields`. */
const READ_SEPARATELY = ['command', 'env', 'depends_on'];

export function readJobFlags(input: Input, caller: Context, now: number): JobInput {
  if (input.hasNoFlags) return {};
  const flags = fieldFlags().filter(({ field }) => !READ_SEPARATELY.includes(field.name));
  const unique = ['unique-for', 'unique-while'].find((flag) => input.has(flag));
  if (unique !== undefined && !input.has('unique'))
    throw usageError(`--${unique} requires --unique`, 'add --unique KEY');
  const read = readFields(input, flags, caller, now);
  // --after may have short ids, which `readResolvedJobFlags` resolves.
  if (input.has('after')) read.dependsOn = input.all('after').flatMap(readAfterFlag);
  return read;
}

export function readEditFlags(input: Input, caller: Context, now: number): JobInput {
  const flags = editFieldFlags().filter(({ field }) => field.name !== 'env');
  return readFields(input, flags, caller, now);
}

/** Reads all flags that set environment variables. --env wins over --inherit-env, which wins over --env-file. */
function readEnvFlags(input: Input, environment: NodeJS.ProcessEnv): Record<string, string> {
  if (!['env', 'env-file', 'inherit-env'].some(input.has)) return {};
  return {
    ...readEnvFile(input.one('env-file')),
    ...readInheritedEnv(input, environment),
    ...readEnv(input.all('env')),
  };
}

function readFields(input: Input, flags: FieldFlag[], caller: Context, now: number): JobInput {
  const env = readEnvFlags(input, caller.environment);
  const object: Record<string, unknown> = Object.keys(env).length > 0 ? { env } : {};
  const flagByField = new Map<string, string>();
  for (const flag of flags) {
    if (!input.has(flag.name)) continue;
    object[flag.field.name] = readFlag(input, flag, caller);
    if (flag.flag.value !== undefined && !flag.flag.many) flagByField.set(flag.field.name, flag.name);
  }
  return withFlagNames(flagByField, () => readJobObject(object, now).input);
}

/** Converts the text of a flag to a value that its field accepts. */
function readFlag(input: Input, { name, flag, field }: FieldFlag, caller: Context): unknown {
  if (flag.value === undefined) return true;
  const text = input.one(name)!;
  if (field.name === 'cwd') return absoluteCwd(text, caller);
  if (field.name === 'stdin') return readStdinFlag(text, input.one('file'));
  if (flag.value === 'K=V')
    return Object.fromEntries(input.all(name).map((tag) => readTag(tag, `--${name}`)));
  if (flag.many) return input.all(name).join(',');
  const isWord = field.accepts !== undefined && !/^-?\d/.test(text);
  return flag.value === 'N' && !isWord ? parseNumber(text, `--${name}`, field.range as NumberRange) : text;
}

/** Calls `read`. In the message of its error, replaces the names of fields by those of their flags. */
function withFlagNames(flagByField: ReadonlyMap<string, string>, read: () => JobInput): JobInput {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
    const named = (word: string): string => (flagByField.has(word) ? `--${flagByField.get(word)}` : word);
    const message = error.message.replace(/^\w+( and \w+(?= cannot))?/, (start) =>
      start.replace(/\w+/g, named),
    );
    throw new QueueError(error.code, message, error.hint ?? undefined);
  }
}

function absoluteCwd(path: string, caller: Context): string {
  if (path === '') throw invalidValue('--cwd must not be empty');
  return path.startsWith('/') ? path : `${caller.cwd.replace(/\/$/, '')}/${path}`;
}

/** Reads a file with a variable per line. Skips blank lines and comments. Drops `export`, and quotes around values. */
function readEnvFile(file: string | undefined): Record<string, string> {
  if (file === undefined) return {};
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadableError(`--env-file: ${file}`, error);
  }
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*(export\s+)?/, '').replace(/^([^=]*=)(["'])(.*)\2\s*$/, '$1$3'))
    .filter((line) => line !== '' && !line.startsWith('#'));
  return readEnv(lines, `--env-file: each line of ${file}`);
}

function readInheritedEnv(input: Input, environment: NodeJS.ProcessEnv): Record<string, string> {
  const words = input.all('inherit-env').flatMap((text) => text.split(','));
  const secrets = input.all('secret-env').flatMap((text) => text.split(',').map((name) => name.trim()));
  const names = words.flatMap((word) => inheritedNames(word.trim(), environment, secrets));
  return Object.fromEntries(names.map((name) => [name, environment[name]!]));
}

/**
 * Variables that describe this process or its trace, that control the runtime, or that queuectl sets itself. A pattern of --inherit-env
 * skips them, because jobs do not get them from the worker, either.
 */
const PROCESS_VARIABLES =
  /^(_|PWD|OLDPWD|SHLVL|QUEUECTL_.*|BUN_.*|NODE_OPTIONS|TRACEPARENT|TRACESTATE|BAGGAGE)$/;

/** Returns the name itself, or all names that match a pattern with `*`, except `secrets`. Throws if no such variable is set. */
function inheritedNames(word: string, environment: NodeJS.ProcessEnv, secrets: string[]): string[] {
  if (!word.includes('*')) {
    if (environment[word] !== undefined) return [word];
    throw invalidValue(`--inherit-env: the variable ${word} is not set`);
  }
  const isInherited = (name: string): boolean =>
    matchesPattern(name, word) &&
    !/\s/.test(name) &&
    !PROCESS_VARIABLES.test(name) &&
    !secrets.includes(name);
  const found = Object.keys(environment).filter(isInherited);
  if (found.length > 0) return found;
  throw invalidValue(`--inherit-env: no variable matches '${word}'`);
}

/** Tells whether a name matches a pattern in which each `*` stands for any text. A RegExp with many of them could take very long. */
function matchesPattern(name: string, pattern: string): boolean {
  const [first = '', ...middle] = pattern.split('*');
  const last = middle.pop() ?? '';
  const end = name.length - last.length;
  if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (const part of middle) {
    const found = name.indexOf(part, at);
    if (found === -1 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

function readEnv(pairs: string[], what = '--env'): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at <= 0) throw invalidValue(`${what} must be NAME=VALUE, not '${pair}'`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** Reads the flags, and replaces the short ids and @last of --after by full ids. */
export async function readResolvedJobFlags(context: Context, input: Input, now: number): Promise<JobInput> {
  const flags = readJobFlags(input, context, now);
  if (flags.dependsOn === undefined) return flags;
  const { findJobId } = await import('../../actions/jobs/jobs.ts');
  const dependsOn: JobInput['dependsOn'] = [];
  for (const { id, on } of flags.dependsOn) {
    if (id === flags.id) throw new QueueError('invalid-job', `job '${id}' cannot depend on itself`);
    dependsOn.push({ id: await findJobId(await context.app(), id), on });
  }
  // Two short ids may refer to the same job.
  return { ...flags, dependsOn: readDependencies(dependsOn, '--after') };
}

/** Adds the values of flags to jobs. Throws if a job and a flag set the same field, so that neither wins silently. */
export function fillFromFlags(inputs: JobInput[], flags: JobInput): JobInput[] {
  const fill = createFiller(flags);
  return inputs.map((job) => fill(job, inputs.length > 1));
}

/** Returns a function that adds the flags to one job after the other. `isOneOfMany` is false for a job that comes alone. */
export function createFiller(flags: JobInput): (job: JobInput, isOneOfMany?: boolean) => JobInput {
  const fromFlags =
    Object.keys(flags).length === 0 ? [] : fieldFlags().filter(({ field }) => isSet(flags, field));
  let number = 0;
  return (job, isOneOfMany = true) => {
    if (++number > 1 && flags.id !== undefined) throw usageError('--id cannot be used with several jobs');
    const conflict = fromFlags.find(({ field }) => isSet(job, field));
    if (conflict !== undefined) {
      const which = isOneOfMany ? `job ${number}` : 'the job';
      throw usageError(`${which} and a flag both set ${conflict.field.name}`);
    }
    if (fromFlags.length === 0) return job;
    if (!isOneOfMany && flags.policy?.onParentFailure && !(flags.dependsOn ?? job.dependsOn)?.length)
      throw usageError('--on-parent-failure requires --after');
    return withChanges(job, flags);
  };
}

/** Tells whether the input sets the field. If one of the fields of `unique` is set, all of them count as set. */
function isSet(input: JobInput, { in: group, key }: NamedField): boolean {
  if (group === 'unique') return input.unique !== undefined;
  const holder = (group === undefined ? input : input[group]) as Record<string, unknown> | undefined;
  return holder?.[key] !== undefined;
}

/** Switches off the hooks of the settings for a job that a hook enqueues, because otherwise hooks could loop. */
export function withoutHooksInHook(job: JobInput, environment: NodeJS.ProcessEnv): JobInput {
  return environment.QUEUECTL_HOOK_EVENT ? withoutDefaultHooks(job) : job;
}
