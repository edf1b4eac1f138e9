import { COMMAND_LIMIT, checkCommand, checkUnmasked } from './command-text.ts';
import { readDependencies, readParentFailure } from './dependency-input.ts';
import { checkVariable, readSecretEnv } from './environment.ts';
import { readExitCodes } from './exit-codes.ts';
import { checkId, checkKey, checkName, checkQueueName, checkReadable } from './id.ts';
import {
  BACKOFF_STRATEGIES,
  type BackoffStrategy,
  type Dependency,
  type JobHooks,
  type JobPolicy,
  PRIORITIES,
} from './job.ts';
import { holdsMask, MASK } from './mask.ts';
import { checkNumber } from './numbers.ts';
import { boolean, invalid, number, readDelay, readDuration, string, strings } from './read-value.ts';
import { RANGES } from './settings.ts';
import { checkStdin } from './stdin.ts';
import { parseTime } from './time.ts';

/** What a user said about a job; what is missing is filled in by the action. */
export interface JobInput {
  id?: string;
  command?: string;
  argv?: string[];
  queue?: string;
  priority?: number;
  maxRetries?: number;
  timeoutMs?: number | null;
  runAt?: number;
  /** That time as it was said, where it counts from now. */
  delayMs?: number;
  backoffBase?: number;
  cwd?: string;
  env?: Record<string, string>;
  tags?: Record<string, string>;
  name?: string;
  policy?: JobPolicy;
  unique?: { key?: string; while?: 'pending' | 'active'; forMs?: number };
  hooks?: JobHooks;
  dependsOn?: Dependency[];
  /** Of the enqueue as a whole: all jobs of one have the same, or none. */
  idempotencyKey?: string;
  stdin?: string;
  splitOutput?: boolean;
  secretEnv?: string[];
  cleanEnv?: boolean;
}

/** What a value says: of one property of the input, or of several. */
export type Field =
  | { names: string[]; key: keyof JobInput; value: (value: unknown, name: string) => unknown }
  | { names: string[]; read: (value: unknown, name: string, now: number) => Partial<JobInput> };

/** Every field of a job object that can be given, with the spellings people type. */
export const FIELDS: Field[] = [
  { names: ['id', 'job_id', 'jobId'], key: 'id', value: (v, n) => checkId(string(v, n), n) },
  { names: ['command', 'cmd'], key: 'command', value: (v, n) => checkCommand(string(v, n), n) },
  { names: ['argv'], key: 'argv', value: (v, n) => checkArgv(v, n) },
  { names: ['queue'], key: 'queue', value: (v, n) => checkQueueName(string(v, n), n) },
  { names: ['priority'], key: 'priority', value: (v, n) => readPriority(v, n) },
  {
    names: [
      'max_retries',
      'maxRetries',
      'max-retries',
      'retries',
      'max_attempts',
      'maxAttempts',
      'max_tries',
      'maxTries',
    ],
    key: 'maxRetries',
    value: (v, n) => checkNumber(number(v, n), n, RANGES.maxRetries),
  },
  {
    names: ['timeout', 'timeout_seconds', 'timeoutSeconds'],
    key: 'timeoutMs',
    value: (v, n) => readDuration(v, n, 1000),
  },
  { names: ['timeout_ms', 'timeoutMs'], key: 'timeoutMs', value: (v, n) => readDuration(v, n, 1) },
  {
    names: [
      'run_at',
      'runAt',
      'scheduled_at',
      'scheduledAt',
      'available_at',
      'availableAt',
      'run_after',
      'runAfter',
    ],
    read: readTime,
  },
  {
    names: ['delay', 'delay_seconds', 'delaySeconds'],
    read: (v, n, now) => fromNow(readDelay(v, n), now),
  },
  {
    names: ['backoff_base', 'backoffBase', 'backoff-base', 'base_backoff'],
    key: 'backoffBase',
    value: (v, n) => checkNumber(number(v, n), n, RANGES.backoffBase),
  },
  { names: ['cwd'], key: 'cwd', value: (v, n) => checkCwd(string(v, n), n) },
  { names: ['env'], key: 'env', value: (v, n) => checkEnv(v, n) },
  { names: ['tags'], key: 'tags', value: (v, n) => checkTags(v, n) },
  { names: ['on_complete', 'onComplete', 'on-complete'], read: hook('complete') },
  { names: ['on_failure', 'onFailure', 'on-failure'], read: hook('failure') },
  { names: ['on_dead', 'onDead', 'on-dead'], read: hook('dead') },
  { names: ['unique_key', 'uniqueKey'], read: (v, n) => ({ unique: { key: checkName(string(v, n), n) } }) },
  { names: ['unique_for', 'uniqueFor'], read: (v, n) => ({ unique: { forMs: readDelay(v, n, 1000, 1) } }) },
  { names: ['unique_while', 'uniqueWhile'], read: (v, n) => ({ unique: { while: readWhile(v, n) } }) },
  { names: ['retry_on', 'retryOn'], read: (v, n) => ({ policy: { retryOn: readExitCodes(v, n) } }) },
  { names: ['no_retry_on', 'noRetryOn'], read: (v, n) => ({ policy: { noRetryOn: readExitCodes(v, n) } }) },
  {
    names: ['at_most_once', 'atMostOnce'],
    read: (v, n) => (boolean(v, n) ? { policy: { atMostOnce: true } } : {}),
  },
  {
    names: ['depends_on', 'dependsOn', 'after'],
    key: 'dependsOn',
    value: (v, n) => readDependencies(v, n),
  },
  {
    names: ['on_parent_failure', 'onParentFailure'],
    read: (v, n) => ({ policy: { onParentFailure: readParentFailure(v, n) } }),
  },
  {
    names: ['idempotency_key', 'idempotencyKey', 'idempotency-key'],
    key: 'idempotencyKey',
    value: (v, n) => checkKey(string(v, n), n),
  },
  { names: ['name'], key: 'name', value: (v, n) => checkName(string(v, n), n) },
  { names: ['stdin', 'input'], key: 'stdin', value: (v, n) => checkStdin(string(v, n), n) },
  {
    names: ['split_output', 'splitOutput', 'split-output'],
    read: (v, n) => (boolean(v, n) ? { splitOutput: true } : {}),
  },
  { names: ['secret_env', 'secretEnv', 'secret-env', 'secrets'], read: readSecretEnv },
  {
    names: ['clean_env', 'cleanEnv', 'clean-env'],
    read: (v, n) => (boolean(v, n) ? { cleanEnv: true } : {}),
  },
  {
    names: ['backoff', 'backoff_strategy', 'backoffStrategy', 'backoff-strategy', 'retry_strategy'],
    read: (v, n) => ({ policy: { backoff: readStrategy(v, n) } }),
  },
  {
    names: ['retry_delay', 'retryDelay', 'retry-delay'],
    read: (v, n) => ({ policy: { retryDelayMs: readDelay(v, n) } }),
  },
  {
    names: ['retry_delay_ms', 'retryDelayMs'],
    read: (v, n) => ({ policy: { retryDelayMs: readDelay(v, n, 1) } }),
  },
  {
    names: ['backoff_max', 'backoffMax', 'backoff-max', 'max_backoff', 'maxBackoff', 'backoff_cap'],
    read: (v, n) => ({ policy: { backoffMaxMs: readDelay(v, n, 1000, 1) } }),
  },
  {
    names: ['backoff_max_ms', 'backoffMaxMs'],
    read: (v, n) => ({ policy: { backoffMaxMs: readDelay(v, n, 1, 1) } }),
  },
  {
    names: ['jitter', 'backoff_jitter', 'backoffJitter', 'retry_jitter'],
    read: (v, n) => ({ policy: { jitter: checkNumber(number(v, n), n, RANGES.jitter) } }),
  },
];

export function checkArgv(value: unknown, name: string): string[] {
  if (!Array.isArray(value) || value.length === 0)
    throw invalid(`${name} must be a non-empty array of strings`);
  for (const [i, part] of value.entries()) {
    const text = string(part, `${name}[${i}]`);
    if (text.includes('\0')) throw invalid(`${name}[${i}] must not contain NUL bytes`);
    checkUnmasked(text, `${name}[${i}]`);
    if (Buffer.byteLength(text) > COMMAND_LIMIT)
      throw invalid(`${name}[${i}] is longer than ${COMMAND_LIMIT} bytes`);
  }
  if (value[0].trim() === '') throw invalid(`${name}[0] must not be empty`);
  return value;
}

function hook(event: keyof JobHooks): (value: unknown, name: string) => Partial<JobInput> {
  return (value, name) => ({ hooks: { [event]: checkCommand(string(value, name), name) } });
}

function checkCwd(text: string, name: string): string {
  if (!text.startsWith('/') || text.includes('\0')) throw invalid(`${name} must be an absolute path`);
  return text;
}

function checkEnv(value: unknown, name: string): Record<string, string> {
  const env = strings(value, name);
  for (const [key, text] of Object.entries(env)) {
    checkVariable(key, name);
    if (text.includes('\0')) throw invalid(`${name}: ${key} must not contain NUL bytes`);
    if (holdsMask(text))
      throw invalid(
        `${name}: the value of ${key} is ${MASK}, which stands for a masked secret`,
        'give the real value, or list the name in secret_env',
      );
    if (Buffer.byteLength(key) + Buffer.byteLength(text) >= COMMAND_LIMIT)
      throw invalid(`${name}: ${key} is longer than ${COMMAND_LIMIT} bytes`);
  }
  return env;
}

function checkTags(value: unknown, name: string): Record<string, string> {
  const tags = strings(value, name);
  for (const [key, text] of Object.entries(tags)) {
    checkName(key, `${name} key`);
    checkReadable(text, `${name}: ${key}`);
  }
  return tags;
}

function readPriority(value: unknown, name: string): number {
  if (typeof value === 'string') {
    const named = PRIORITIES.get(value.trim().toLowerCase());
    if (named !== undefined) return named;
    throw invalid(
      `${name} must be a whole number or one of ${[...PRIORITIES.keys()].join(', ')}, not '${value}'`,
    );
  }
  return checkNumber(number(value, name), name, RANGES.priority);
}

function readWhile(value: unknown, name: string): 'pending' | 'active' {
  if (value === 'pending' || value === 'active') return value;
  throw invalid(`${name} must be pending or active, not '${String(value)}'`);
}

function readStrategy(value: unknown, name: string): BackoffStrategy {
  const found = BACKOFF_STRATEGIES.find((one) => one === String(value).trim().toLowerCase());
  if (found !== undefined) return found;
  throw invalid(`${name} must be one of ${BACKOFF_STRATEGIES.join(', ')}, not '${String(value)}'`);
}

function readTime(value: unknown, name: string, now: number): Partial<JobInput> {
  const text = typeof value === 'string' ? value : String(number(value, name));
  const runAt = parseTime(text, name, now);
  return text.trim().startsWith('+') ? fromNow(runAt - now, now) : { runAt };
}

function fromNow(delayMs: number, now: number): Partial<JobInput> {
  return { runAt: now + delayMs, delayMs };
}
