import { command } from '../frame/cli.ts';
import { exactDuration } from '../parts/format.ts';
import type { Job } from '../types.ts';

/** A new job as a form: every field is a text. An empty field is left to the settings. */
export interface Draft {
  command: string;
  name: string;
  queue: string;
  priority: string;
  delay: string;
  timeout: string;
  'max-retries': string;
  cwd: string;
  unique: string;
  tags: string;
  env: string;
  /** Fields of a duplicated job that the form does not show, including the arguments of a job without a shell. */
  rest: Record<string, unknown>;
}

export const EMPTY: Draft = {
  command: '',
  name: '',
  queue: '',
  priority: '',
  delay: '',
  timeout: '',
  'max-retries': '',
  cwd: '',
  unique: '',
  tags: '',
  env: '',
  rest: {},
};

const FLAGS = ['name', 'queue', 'priority', 'delay', 'timeout', 'max-retries', 'cwd', 'unique'] as const;

/** Parses lines of the form `a=b`. */
const pairs = (text: string): [string, string][] =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const at = line.indexOf('=');
      return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1)];
    });

const lines = (map: Record<string, string>): string =>
  Object.entries(map)
    .map(([key, value]) => `${key}=${value}`)
    .join('\n');

export function draftOf(job: Job): Draft {
  return {
    ...EMPTY,
    command: job.command,
    name: job.name ?? '',
    queue: job.queue === 'default' ? '' : job.queue,
    priority: job.priority === 0 ? '' : String(job.priority),
    timeout: job.timeout_ms === null ? '' : exactDuration(job.timeout_ms),
    'max-retries': job.at_most_once ? '' : String(job.max_retries),
    cwd: job.cwd,
    tags: lines(job.tags),
    env: lines(job.env),
    rest: restOf(job),
  };
}

const REST = [
  'argv',
  'backoff_base',
  'backoff',
  'retry_delay_ms',
  'backoff_max_ms',
  'jitter',
  'retry_on',
  'no_retry_on',
  'at_most_once',
  'on_complete',
  'on_failure',
  'on_dead',
  'secret_env',
  'clean_env',
  'split_output',
  'stdin',
] as const;

function restOf(job: Job): Record<string, unknown> {
  const given = REST.map((field) => [field, job[field]] as const).filter(
    ([, value]) => value !== null && value !== false && !(Array.isArray(value) && value.length === 0),
  );
  return Object.fromEntries(given);
}

/** Returns the fields of the request. */
export function bodyOf(draft: Draft): Record<string, unknown> {
  const { argv, ...rest } = draft.rest;
  const body: Record<string, unknown> = { ...rest, ...(argv ? { argv } : { command: draft.command }) };
  const keep = (field: string, value: unknown, given: string): void => {
    if (given.trim() !== '') body[field] = value;
  };
  keep('name', draft.name, draft.name);
  keep('queue', draft.queue, draft.queue);
  keep('priority', wholeOrText(draft.priority), draft.priority);
  keep('delay', draft.delay.trim(), draft.delay);
  keep('timeout', draft.timeout.trim(), draft.timeout);
  keep('max_retries', wholeOrText(draft['max-retries']), draft['max-retries']);
  keep('cwd', draft.cwd, draft.cwd);
  keep('unique_key', draft.unique, draft.unique);
  keep('tags', Object.fromEntries(pairs(draft.tags)), draft.tags);
  keep('env', Object.fromEntries(pairs(draft.env)), draft.env);
  return body;
}

/** Parses an integer. Any other text is sent unchanged, and the server reports the problem. */
function wholeOrText(text: string): number | string {
  return /^\s*-?\d+\s*$/.test(text) ? Number(text) : text;
}

export function commandOf(draft: Draft): string {
  if (Object.keys(draft.rest).length > 0) return command('enqueue', JSON.stringify(bodyOf(draft)));
  const flags = FLAGS.filter((flag) => draft[flag].trim() !== '').flatMap((flag) => [
    `--${flag}`,
    draft[flag].trim(),
  ]);
  for (const [key, value] of pairs(draft.tags)) flags.push('--tag', `${key}=${value}`);
  for (const [key, value] of pairs(draft.env)) flags.push('--env', `${key}=${value}`);
  // A command that starts like JSON or a flag would be parsed as one.
  const words = /^\s*[[{-]/.test(draft.command) ? ['--command', draft.command] : [draft.command];
  return command('enqueue', ...words, ...flags);
}
