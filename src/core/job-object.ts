import type { Dependency, Job } from './job.ts';
import { signalOf } from './outcome.ts';
import { toIso } from './time.ts';

/** A job as everybody outside sees it: CLI, library and HTTP show this and nothing else. */
export interface JobObject {
  id: string;
  command: string;
  argv: string[] | null;
  state: string;
  attempts: number;
  max_retries: number;
  created_at: string;
  updated_at: string;
  queue: string;
  priority: number;
  run_at: string | null;
  next_run_at: string | null;
  timeout_ms: number | null;
  backoff_base: number | null;
  /** Ids, or `{id, on}` where another end than completion is waited for. */
  depends_on: (string | Dependency)[];
  on_parent_failure: string | null;
  unique_key: string | null;
  name: string | null;
  tags: Record<string, string>;
  retry_on: number[] | null;
  no_retry_on: number[] | null;
  at_most_once: boolean;
  backoff: string | null;
  retry_delay_ms: number | null;
  backoff_max_ms: number | null;
  jitter: number | null;
  on_complete: string | null;
  on_failure: string | null;
  on_dead: string | null;
  cwd: string;
  env: Record<string, string>;
  secret_env: string[];
  split_output: boolean;
  clean_env: boolean;
  stdin: string | null;
  stdin_bytes: number;
  worker_id: string | null;
  started_at: string | null;
  finished_at: string | null;
  exit_code: number | null;
  signal: string | null;
  last_error: string | null;
  crashes: number;
  duration_ms: number | null;
  /** Only in the answer to an enqueue that added nothing: the job with the same unique key. */
  existing?: true;
}

export function toJobObject(job: Job): JobObject {
  return {
    id: job.id,
    command: job.command,
    argv: job.argv,
    state: job.state,
    attempts: job.attempts,
    max_retries: job.maxRetries,
    created_at: toIso(job.createdAt),
    updated_at: toIso(job.updatedAt),
    queue: job.queue,
    priority: job.priority,
    run_at: toIso(job.runAt),
    // Nobody knows when the job it waits for will end.
    next_run_at: job.blocked ? null : toIso(job.dueAt),
    timeout_ms: job.timeoutMs,
    backoff_base: job.backoffBase,
    depends_on: job.dependsOn.map((parent) => (parent.on === 'ok' ? parent.id : parent)),
    on_parent_failure: job.policy.onParentFailure ?? null,
    unique_key: job.unique?.key ?? null,
    name: job.name,
    tags: job.tags,
    retry_on: job.policy.retryOn ?? null,
    no_retry_on: job.policy.noRetryOn ?? null,
    at_most_once: job.policy.atMostOnce ?? false,
    backoff: job.policy.backoff ?? null,
    retry_delay_ms: job.policy.retryDelayMs ?? null,
    backoff_max_ms: job.policy.backoffMaxMs ?? null,
    jitter: job.policy.jitter ?? null,
    on_complete: job.hooks.complete ?? null,
    on_failure: job.hooks.failure ?? null,
    on_dead: job.hooks.dead ?? null,
    cwd: job.cwd,
    env: job.env,
    secret_env: job.secretEnv,
    split_output: job.splitOutput,
    clean_env: job.cleanEnv,
    stdin: job.stdin,
    stdin_bytes: job.stdinBytes,
    worker_id: job.workerId,
    started_at: toIso(job.startedAt),
    finished_at: toIso(job.finishedAt),
    exit_code: job.exitCode,
    signal: signalOf(job.exitCode),
    last_error: job.lastError,
    crashes: job.crashes,
    duration_ms: job.durationMs,
    ...(job.existing ? { existing: true as const } : {}),
  };
}
