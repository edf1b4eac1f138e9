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
import { type Context, type Flag, type Input, inGroup } from './command.ts';
import { readStdin } from './stdin.ts';

/** The flags that describe a job. Each is a field of a job object and is read by the same rules. */
export const JOB_FLAGS: Record<string, Flag> = {
  ...inGroup('What to run', {
    id: { value: 'ID', help: 'id of the job; must not exist yet (default: generated)' },
    name: { value: 'NAME', help: 'name of this kind of job, for lists and filters' },
    queue: { value: 'NAME', help: 'queue to add the job to (default: "default")' },
    tag: { value: 'K=V', many: true, help: 'add a tag; can be repeated' },
  }),
  ...inGroup('When to run', {
    'run-at': {
      value: 'TIME',
      help: 'earliest start time: 2030-01-31T09:00:00Z, 2030-01-31T09:00 (local time), +10m or epoch seconds',
    },
    delay: { value: 'TIME', help: 'delay before the first attempt, such as 10m' },
    priority: {
      value: 'N',
      short: 'p',
      help: 'priority: a number, or low, normal, high, urgent; higher runs first (default: 0)',
    },
  }),
  ...inGroup('Retries and timeout', {
    'max-retries': {
      value: 'N',
      short: 'r',
      help: 'maximum number of attempts, including the first (default: setting max-retries)',
    },
    timeout: {
      value: 'TIME',
      short: 't',
      help: 'stop an attempt after this time, such as 30s or 5m, or none (default: setting job-timeout)',
    },
    backoff: {
      value: 'exponential|linear|fixed',
      help: 'how the delay between retries grows (default: setting backoff-strategy)',
    },
    'backoff-base': {
      value: 'N',
      help: 'exponential backoff: retry after N^attempts seconds (default: setting backoff-base)',
    },
    'backoff-max': {
      value: 'TIME',
      help: 'maximum delay between retries (default: setting backoff-max)',
    },
    'retry-delay': {
      value: 'TIME',
      help: 'delay of fixed backoff, step of linear backoff (default: setting retry-delay)',
    },
    jitter: {
      value: 'N',
      help: 'random jitter: share of the delay, from 0 to 1 (default: setting backoff-jitter)',
    },
    'retry-on': { value: 'CODES', help: 'retry only after these exit codes, such as 75 or 1,75' },
    'no-retry-on': { value: 'CODES', help: 'do not retry after these exit codes, such as 64-78' },
    'at-most-once': {
      help: 'start the job at most once; a failed, stopped or lost attempt makes it dead',
    },
  }),
  ...inGroup('Environment and input', {
    cwd: { value: 'DIR', help: 'working directory (default: the current directory)' },
    env: { value: 'K=V', many: true, help: 'set an environment variable; can be repeated' },
    'env-file': {
      value: 'FILE',
      help: 'read environment variables from a file with one NAME=VALUE per line',
    },
    'inherit-env': {
      value: 'A,B',
      many: true,
      help: 'copy these variables from the current environment',
    },
    'secret-env': {
      value: 'A,B',
      many: true,
      help: "take these variables from the worker's environment at run time; only the names are stored",
    },
    'clean-env': {
      help: 'inherit only PATH, HOME and similar variables from the worker, plus --secret-env',
    },
    stdin: {
      value: 'TEXT',
      help: 'standard input of the command: a text, @FILE for the contents of a file, or - (default: empty)',
    },
  }),
  ...inGroup('Dependencies', {
    after: {
      value: 'ID,…',
      many: true,
      help: 'run after these jobs complete (any:ID: however the job ends, notok:ID: if it is dead or cancelled)',
    },
    'on-parent-failure': {
      value: 'cancel|hold|run',
      help: 'what to do if a parent job does not end as required (default: cancel)',
    },
  }),
  ...inGroup('Hooks', {
    'on-complete': {
      value: 'COMMAND',
      help: 'run this command when the job completes (default: setting on-complete)',
    },
    'on-failure': {
      value: 'COMMAND',
      help: 'run this command after each failed attempt (default: setting on-failure)',
    },
    'on-dead': {
      value: 'COMMAND',
      help: 'run this command when the job is dead (default: setting on-dead)',
    },
  }),
  ...inGroup('Uniqueness', {
    unique: { value: 'KEY', help: 'add no job while an unfinished job has this key' },
    'unique-for': { value: 'TIME', help: 'with --unique: reserve the key for this long instead' },
    'unique-while': {
      value: 'pending|active',
      help: 'with --unique: reserve the key until the job starts or until it finishes (default: active)',
    },
  }),
  ...inGroup('Output', {
    'split-output': { help: 'store stdout and stderr separately (see logs --stderr)' },
  }),
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
    throw new QueueError('usage', `--${unique} requires --unique`);
  const read = readNamed(flagOf, () => readJobObject(object, now).input);
  // These may be short ids, which withParents resolves.
  if (input.has('after')) read.dependsOn = input.all('after').flatMap(readAfter);
  return read;
}

/** Names the flag instead of the field in an error about it. */
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
  if (path === '') throw new QueueError('invalid-value', '--cwd must not be empty');
  return path.startsWith('/') ? path : `${cwd().replace(/\/$/, '')}/${path}`;
}

/** Reads one variable per line. Skips blank lines and comments, and drops a leading `export` and quotes around the value. */
function readEnvFile(file: string | undefined): Record<string, string> {
  if (file === undefined) return {};
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new QueueError(
      'no-such-file',
      `cannot read the --env-file ${file}: ${(error as NodeJS.ErrnoException).code}`,
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
        throw new QueueError('invalid-value', `--inherit-env: the variable ${name.trim()} is not set`);
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

/** Resolves short ids and @last in --after, as every command does that takes job ids. */
export async function withParents({ app }: Context, flags: JobInput): Promise<JobInput> {
  if (flags.dependsOn === undefined) return flags;
  const { findJob } = await import('../actions/select.ts');
  const dependsOn: JobInput['dependsOn'] = [];
  for (const { id, on } of flags.dependsOn) {
    if (id === flags.id) throw new QueueError('invalid-job', `job '${id}' cannot depend on itself`);
    dependsOn.push({ id: await findJob(await app(), id), on });
  }
  // Two short ids may name the same job.
  return { ...flags, dependsOn: readDependencies(dependsOn, '--after') };
}

/** Completes jobs with the values of flags. A value that both of them give is an error, so that neither wins silently. */
export function fillFromFlags(inputs: JobInput[], flags: JobInput): JobInput[] {
  const fill = filler(flags);
  return inputs.map((job) => fill(job, inputs.length > 1));
}

/** Does the same for jobs that arrive one by one. */
export function filler(flags: JobInput): (job: JobInput, several?: boolean) => JobInput {
  const given = Object.keys(flags) as (keyof JobInput)[];
  let number = 0;
  return (job, several = true) => {
    if (++number > 1 && flags.id !== undefined)
      throw new QueueError('usage', '--id cannot be used with several jobs');
    const hook = HOOK_EVENTS.find((event) => job.hooks?.[event] && flags.hooks?.[event]);
    const rule = POLICY_FIELDS.find(
      ([key]) => job.policy?.[key] !== undefined && flags.policy?.[key] !== undefined,
    );
    const plain = given.find((key) => key !== 'hooks' && key !== 'policy' && key in job);
    const twice = hook === undefined ? (rule?.[1] ?? plain) : `on_${hook}`;
    if (twice !== undefined) {
      const which = several ? `job ${number}` : 'the job';
      throw new QueueError('usage', `${which} and a flag both set ${FIELD_NAMES[twice] ?? twice}`);
    }
    if (given.length === 0) return job;
    if (!several && flags.policy?.onParentFailure && !(flags.dependsOn ?? job.dependsOn)?.length)
      throw new QueueError('usage', '--on-parent-failure requires --after');
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

/** Removes the hooks of a job that a hook enqueues: an on-complete command that enqueues jobs would never end. */
export function asEnqueuedHere(job: JobInput, environment: NodeJS.ProcessEnv): JobInput {
  return environment.QUEUECTL_HOOK_EVENT ? withoutHooks(job) : job;
}
