import { parseDuration } from '../core/duration.ts';
import { QueueError } from '../core/errors.ts';
import { readTag } from '../core/filter.ts';
import { type JobInput, readJobObject } from '../core/job-input.ts';
import { parseNumber } from '../core/numbers.ts';
import { RANGES } from '../core/settings.ts';
import type { Flag, Input } from './command.ts';

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
  env: { value: 'K=V', many: true, help: 'a variable of its environment; may be repeated' },
};

export function readJobFlags(input: Input, cwd: () => string, now: number): JobInput {
  const object: Record<string, unknown> = {};
  const put = (flag: string, field: string, read: (text: string) => unknown = (text) => text): void => {
    const text = input.one(flag);
    if (text !== undefined) object[field] = read(text);
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
  if (input.has('tag'))
    object.tags = Object.fromEntries(input.all('tag').map((tag) => readTag(tag, '--tag')));
  if (input.has('env')) object.env = readEnv(input.all('env'));
  return readJobObject(object, now).input;
}

function absolute(path: string, cwd: () => string): string {
  if (path === '') throw new QueueError('invalid-value', '--cwd is empty');
  return path.startsWith('/') ? path : `${cwd().replace(/\/$/, '')}/${path}`;
}

function readEnv(pairs: string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at <= 0) throw new QueueError('invalid-value', `--env must be NAME=VALUE, not '${pair}'`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

/** Flags fill in what the jobs leave open. Saying a thing twice is an error, not a question of who wins. */
export function fillFromFlags(inputs: JobInput[], flags: JobInput): JobInput[] {
  const given = Object.keys(flags) as (keyof JobInput)[];
  if (inputs.length > 1 && flags.id !== undefined)
    throw new QueueError('usage', '--id names one job, and there are several');
  return inputs.map((job, i) => {
    const twice = given.find((key) => key in job);
    if (twice !== undefined) {
      const which = inputs.length > 1 ? `job ${i + 1}` : 'the job';
      throw new QueueError('usage', `${which} and a flag both give ${FIELD_NAMES[twice] ?? twice}`);
    }
    return { ...job, ...flags };
  });
}

const FIELD_NAMES: Partial<Record<keyof JobInput, string>> = {
  maxRetries: 'max_retries',
  timeoutMs: 'timeout',
  runAt: 'run_at',
  backoffBase: 'backoff_base',
};
