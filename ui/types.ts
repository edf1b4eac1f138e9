/** What the HTTP API answers, as far as the dashboard reads it. */
import type { JobObject } from '../src/core/job-object.ts';

export type Job = JobObject;

export const STATES = ['pending', 'processing', 'completed', 'failed', 'dead', 'cancelled'] as const;
export type State = (typeof STATES)[number];
export type ByState = Record<State, number>;

export interface JobPage {
  jobs: Job[];
  next_cursor: string | null;
  count: { value: number; capped: boolean };
}

export interface Attempt {
  attempt: number;
  worker_id: string;
  started_at: string;
  finished_at: string | null;
  duration_ms: number | null;
  outcome: string | null;
  exit_code: number | null;
  signal: string | null;
  error: string | null;
  output_bytes: number;
  output_truncated: boolean;
  left_behind: number[];
}

export interface Explanation {
  id: string;
  state: State;
  reasons: string[];
}

export interface RetryDelays {
  delays_ms: number[];
  jitter: number;
}

export interface Queue {
  name: string;
  paused: boolean;
  paused_at: string | null;
  paused_by: string | null;
  concurrency: number | null;
  rate: string | null;
  priority_aging_ms: number | null;
  jobs: ByState;
  oldest_waiting_at: string | null;
}

/** When a schedule would fire. */
export interface Times {
  text: string;
  timezone: string | null;
  next_runs: string[];
  clock_change: { at: string; says: string } | null;
}

export interface Schedule {
  name: string;
  cron: string | null;
  timezone: string | null;
  every_ms: number | null;
  text: string;
  overlap: string;
  catch_up: string;
  paused: boolean;
  paused_at: string | null;
  paused_by: string | null;
  next_run_at: string | null;
  next_runs: string[];
  last_run_at: string | null;
  last_job_id: string | null;
  waiting: number;
  command: string;
  argv: string[] | null;
  queue: string;
  job: {
    name: string;
    priority: number;
    max_retries: number | null;
    timeout_ms: number | null;
    cwd: string | null;
    env: Record<string, string>;
    tags: Record<string, string>;
  };
}

export interface Worker {
  id: string;
  pid: number;
  hostname: string;
  started_at: string;
  last_heartbeat: string;
  status: 'idle' | 'busy' | 'draining';
  queues: string[];
  current_jobs: string[];
  concurrency: number;
  same_executable: boolean | null;
}

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** What a stretch of time is told by. */
export interface Figures {
  enqueued: number;
  dropped: number;
  completed: number;
  failed: number;
  dead: number;
  cancelled: number;
  wait_ms: Percentiles | null;
  run_ms: Percentiles | null;
}

export interface Named extends Figures {
  queue: string;
  name: string | null;
}

export interface Series {
  step_ms: number;
  /** The last one is still filling. */
  points: ({ at: string } & Figures)[];
  total: Figures;
  names: Named[] | null;
}

export interface Doctor {
  version: string;
  ok: boolean;
  checks: { check: string; status: 'ok' | 'warn' | 'fail'; says: string; fix: string | null }[];
}

export interface Setting {
  key: string;
  value: number | string | null;
  default: number | string | null;
  text: string;
  is_default: boolean;
  range: string;
  help: string;
}

export interface Operation {
  id: string;
  action: string;
  state: 'running' | 'done' | 'stopped' | 'failed';
  total: number;
  done: number;
  changed: number;
  unchanged: number;
  started_at: string;
  finished_at: string | null;
  error: string | null;
}

export interface StoreEvent {
  number: number;
  at: string;
  kind: string;
  actor: string | null;
  job_id: string | null;
  queue: string | null;
  attempt: number | null;
  [detail: string]: unknown;
}

export interface ErrorGroup {
  signature: string;
  jobs: number;
  last_hour: number;
  last_3_hours: number;
  last_day: number;
  last_3_days: number;
  last_week: number;
  first_at: string;
  last_at: string;
  sample_id: string;
  sample_error: string;
  names: string[];
  queues: string[];
}

export interface ErrorGroups {
  groups: ErrorGroup[];
  looked_at: number;
  capped: boolean;
}

export interface ServerInfo {
  version: string;
  read_only: boolean;
  public_metrics: boolean;
}
