import { readFileSync } from 'node:fs';
import { readAfter, readDependencies } from '../core/dependency-input.ts';
import { parseDuration } from '../core/duration.ts';
import { QueueError } from '../core/errors.ts';
import { readTag } from '../core/filter.ts';
import { withoutHooks } from '../core/hooks.ts';
import type { JobInput } from '../core/job-fields.ts';
import { readJobObject } from '../core/job-input.ts';
import { parseNumber } from '../core/numbers.ts';
import { RANGES } from '../core/settings.ts';
import type { Context, Flag, Input } from './command.ts';
import { readStdin } from './stdin.ts';

/** What a job can be given on the command line; each is a field of a job object, read by the same rules. */
export const JOB_FLAGS: Record<string, Flag> = {
  id: { value: 'ID', help: 'a name of your own; refused when it exists' },
  queue: { value: 'NAME', help: 'the queue (default)' },
  priority: { value: 'N', short: 'p', help: 'higher runs first; or low, normal, high, urgent (0)' },
  'max-retries': { value: 'N', short: 'r', help: 'executions in all (setting max-retries)' },
  timeout: {
    value: 'TIME',
    short: 't',
    help: 'end it after 30s, 5m, …; none for no timeout (setting job-timeout)',
  },
  'run-at': { value: 'TIME', help: 'not before 2030-01-31T09:00:00Z, +10m, epoch seconds' },
  delay: { value: 'TIME', help: 'not before so long from now' },
  'backoff-base': { value: 'N', help: 'retry after N^attempts seconds (setting backoff-base)' },
  cwd: { value: 'DIR', help: 'where it runs (this directory)' },
  name: { value: 'NAME', help: 'what kind of job this is, for lists and filters' },
  tag: { value: 'K=V', many: true, help: 'a tag; may be repeated' },
  unique: { value: 'KEY', help: 'add no second job with this key while one is pending or running' },
  'unique-for': { value: 'TIME', help: 'with --unique: for so long from now on instead' },
  'unique-while': {
    value: 'pending|active',
    help: 'with --unique: only while it is pending, or also while it runs (active)',
  },
  'retry-on': { value: 'CODES', help: 'try again only after these exit codes, such as 75 or 1,75' },
  'no-retry-on': { value: 'CODES', help: 'give up at once after these exit codes, such as 64-78' },
  'at-most-once': { help: 'start it only once: a failed, stopped or lost attempt makes it dead' },
  after: {
    value: 'ID,…',
    many: true,
    help: 'run it when these have completed; any:ID however it ends, notok:ID when it is dead or cancelled',
  },
  'on-parent-failure': {
    value: 'cancel|hold|run',
    help: 'what becomes of it when one of those ends otherwise (cancel)',
  },
  'on-complete': { value: 'COMMAND', help: 'run this when it has completed (setting on-complete)' },
  'on-failure': { value: 'COMMAND', help: 'run this after each failed attempt (setting on-failure)' },
  'on-dead': { value: 'COMMAND', help: 'run this when it is given up (setting on-dead)' },
  env: { value: 'K=V', many: true, help: 'a variable of its environment; may be repeated' },
  'env-file': {
    value: 'FILE',
    help: 'variables from a file, NAME=VALUE a line; quotes around a value are taken off',
  },
  'inherit-env': { value: 'A,B', many: true, help: 'variables as they are here and now' },
  'secret-env': {
    value: 'A,B',
    many: true,
    help: "variables that the worker's environment has when it runs; only their names are stored",
  },
  'clean-env': { help: "of the worker's environment only PATH, HOME and the like, and the secrets" },
  stdin: {
    value: 'TEXT',
    help: 'what the command reads; @FILE: what is in it now; -: standard input (nothing)',
  },
  'split-output': { help: 'keep stdout and stderr apart: queuectl logs --stderr' },
  backoff: {
    value: 'exponential|linear|fixed',
    help: 'how the wait between retries grows (setting backoff-strategy)',
  },
  'retry-delay': { value: 'TIME', help: 'the wait of fixed, the step of linear (setting retry-delay)' },
  'backoff-max': { value: 'TIME', help: 'no retry waits longer (setting backoff-max)' },
  jitter: { value: 'N', help: 'the part of the wait left to chance, 0 to 1 (setting backoff-jitter)' },
};

export function readJobFlags(
  input: Input,
  { environment, cwd }: { environment: NodeJS.ProcessEnv; cwd: () => string },
  now: number,
): JobInput {
  const object: Record<string, unknown> = {};
  const flagOf = new Map<string, string>();
  const put = (flag: string, field: string, read: (text: string) => unknown = (text) => text): void => {
    const text = input.one(flag);
    if (text === undefined) return;
    object[field] = read(text);
    flagOf.set(field, flag);
  };
  put('id', 'id');
  put('queue', 'queue');
  put('name', 'name');
  put('priority', 'priority', (text) =>
    /^-?\d/.test(text) ? parseNumber(text, '--priority', RANGES.priority) : text,
  );
  put('max-retries', 'max_retries', (text) => parseNumber(text, '--max-retries', RANGES.maxRetries));
  put('timeout', 'timeout');
  put('run-at', 'run_at');
  put('delay', 'delay', (text) => parseDuration(text, '--delay') / 1000);
  put('backoff-base', 'backoff_base', (text) => parseNumber(text, '--backoff-base', RANGES.backoffBase));
  put('cwd', 'cwd', (text) => absolute(text, cwd));
  put('idempotency-key', 'idempotency_key');
  put('unique', 'unique_key');
  put('unique-for', 'unique_for');
  put('unique-while', 'unique_while');
  put('retry-on', 'retry_on');
  put('no-retry-on', 'no_retry_on');
  if (input.has('at-most-once')) object.at_most_once = true;
  put('on-parent-failure', 'on_parent_failure');
  for (const event of HOOK_EVENTS) put(`on-${event}`, `on_${event}`);
  if (input.has('secret-env')) object.secret_env = input.all('secret-env').join(',');
  if (input.has('clean-env')) object.clean_env = true;
  if (input.has('split-output')) object.split_output = true;
  put('backoff', 'backoff');
  put('retry-delay', 'retry_delay');
  put('backoff-max', 'backoff_max');
  put('jitter', 'jitter', (text) => parseNumber(text, '--jitter', RANGES.jitter));
  put('stdin', 'stdin', (text) => readStdin(text, input.one('file')));
  if (input.has('tag'))
    object.tags = Object.fromEntries(input.all('tag').map((tag) => readTag(tag, '--tag')));
  const env = {
    ...readEnvFile(input.one('env-file')),
    ...inherited(input, environment),
    ...readEnv(input.all('env')),
  };
  if (Object.keys(env).length > 0) object.env = env;
  const unique = ['unique-for', 'unique-while'].find((flag) => input.has(flag));
  if (unique !== undefined && !input.has('unique'))
    throw new QueueError('usage', `--${unique} needs --unique`);
  const read = readNamed(flagOf, () => readJobObject(object, now).input);
  // Not ids yet, but what people type for one: see withParents.
  if (input.has('after')) read.dependsOn = input.all('after').flatMap(readAfter);
  return read;
}

/** What is wrong with a field is said by the name of its flag. */
function readNamed(flagOf: ReadonlyMap<string, string>, read: () => JobInput): JobInput {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
    const message = error.message.replace(/^\w+/, (word) =>
      flagOf.has(word) ? `--${flagOf.get(word)}` : word,
    );
    throw new QueueError(error.code, message, error.hint ?? undefined);
  }
}

function absolute(path: string, cwd: () => string): string {
  if (path === '') throw new QueueError('invalid-value', '--cwd is empty');
  return path.startsWith('/') ? path : `${cwd().replace(/\/$/, '')}/${path}`;
}

/** A line a variable; blank lines and comments are left out, and so are an `export` before the name and quotes around the value. */
function readEnvFile(file: string | undefined): Record<string, string> {
  if (file === undefined) return {};
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new QueueError(
      'no-such-file',
      `--env-file: ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`,
    );
  }
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.replace(/^\s*(export\s+)?/, '').replace(/^([^=]*=)(["'])(.*)\2\s*$/, '$1$3'));
  return readEnv(
    lines.filter((line) => line !== '' && !line.startsWith('#')),
    '--env-file',
  );
}

function inherited(input: Input, environment: NodeJS.ProcessEnv): Record<string, string> {
  const names = input.all('inherit-env').flatMap((text) => text.split(','));
  return Object.fromEntries(
    names.map((name) => {
      const value = environment[name.trim()];
      if (value === undefined)
        throw new QueueError('invalid-value', `--inherit-env: ${name.trim()} is not set`);
      return [name.trim(), value];
    }),
  );
}

function readEnv(pairs: string[], what = '--env'): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at <= 0) throw new QueueError('invalid-value', `${what} must be NAME=VALUE, not '${pair}'`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** --after takes the beginning of an id and @last, as every command does that names jobs. */
export async function withParents({ app }: Context, flags: JobInput): Promise<JobInput> {
  if (flags.dependsOn === undefined) return flags;
  const { findJob } = await import('../actions/select.ts');
  const dependsOn: JobInput['dependsOn'] = [];
  for (const { id, on } of flags.dependsOn) {
    if (id === flags.id) throw new QueueError('invalid-job', `job '${id}' cannot wait for itself`);
    dependsOn.push({ id: await findJob(await app(), id), on });
  }
  // Two beginnings may mean one job.
  return { ...flags, dependsOn: readDependencies(dependsOn, '--after') };
}

/** Flags fill in what the jobs leave open. Saying a thing twice is an error, not a question of who wins. */
export function fillFromFlags(inputs: JobInput[], flags: JobInput): JobInput[] {
  const fill = filler(flags);
  return inputs.map((job) => fill(job, inputs.length > 1));
}

/** The same for jobs that come one by one. */
export function filler(flags: JobInput): (job: JobInput, several?: boolean) => JobInput {
  const given = Object.keys(flags) as (keyof JobInput)[];
  let number = 0;
  return (job, several = true) => {
    if (++number > 1 && flags.id !== undefined)
      throw new QueueError('usage', '--id names one job, and there are several');
    const hook = HOOK_EVENTS.find((event) => job.hooks?.[event] && flags.hooks?.[event]);
    const rule = POLICY_FIELDS.find(
      ([key]) => job.policy?.[key] !== undefined && flags.policy?.[key] !== undefined,
    );
    const plain = given.find((key) => key !== 'hooks' && key !== 'policy' && key in job);
    const twice = hook === undefined ? (rule?.[1] ?? plain) : `on_${hook}`;
    if (twice !== undefined) {
      const which = several ? `job ${number}` : 'the job';
      throw new QueueError('usage', `${which} and a flag both give ${FIELD_NAMES[twice] ?? twice}`);
    }
    if (given.length === 0) return job;
    if (!several && flags.policy?.onParentFailure && !(flags.dependsOn ?? job.dependsOn)?.length)
      throw new QueueError('usage', '--on-parent-failure needs --after');
    return {
      ...job,
      ...flags,
      ...(flags.hooks === undefined ? {} : { hooks: { ...job.hooks, ...flags.hooks } }),
      ...(flags.policy === undefined ? {} : { policy: { ...job.policy, ...flags.policy } }),
    };
  };
}

const POLICY_FIELDS = [
  ['retryOn', 'retry_on'],
  ['noRetryOn', 'no_retry_on'],
  ['atMostOnce', 'at_most_once'],
  ['onParentFailure', 'on_parent_failure'],
  ['backoff', 'backoff'],
  ['retryDelayMs', 'retry_delay'],
  ['backoffMaxMs', 'backoff_max'],
  ['jitter', 'jitter'],
] as const;

const HOOK_EVENTS = ['complete', 'failure', 'dead'] as const;

const FIELD_NAMES: Record<string, string> = {
  maxRetries: 'max_retries',
  timeoutMs: 'timeout',
  runAt: 'run_at',
  backoffBase: 'backoff_base',
  unique: 'unique_key',
  dependsOn: 'depends_on',
  idempotencyKey: 'idempotency_key',
  splitOutput: 'split_output',
  secretEnv: 'secret_env',
  cleanEnv: 'clean_env',
};

/** What a hook enqueues triggers no hooks: a command on completion that enqueues would never end. */
export function asEnqueuedHere(job: JobInput, environment: NodeJS.ProcessEnv): JobInput {
  return environment.QUEUECTL_HOOK_EVENT ? withoutHooks(job) : job;
}
