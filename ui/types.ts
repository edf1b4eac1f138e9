/** Types of the answers of the HTTP API, as far as the dashboard reads them. */
import type { JobObject } from '../src/core/job-object.ts';
import type { ErrorGroupObject, OperationObject, ScheduleObject, WorkerObject } from '../src/core/wire.ts';

export type { ErrorGroups } from '../src/core/wire.ts';

export type Job = JobObject;
export type Schedule = ScheduleObject;
export type Worker = WorkerObject;
export type Operation = OperationObject;
export type ErrorGroup = ErrorGroupObject;

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

/** The times at which a schedule would run. */
export interface Times {
  text: string;
  timezone: string | null;
  next_runs: string[];
  clock_change: { at: string; says: string } | null;
}

export interface Percentiles {
  p50: number;
  p95: number;
  p99: number;
}

/** The figures of a period. */
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

export interface NamedFigures extends Figures {
  queue: string;
  name: string | null;
}

export interface Series {
  step_ms: number;
  /** The start of the first point that has data. */
  data_from: string | null;
  /** The last point is incomplete. */
  points: ({ at: string; oldest_waiting_ms: number | null } & Figures)[];
  total: Figures;
  names: NamedFigures[] | null;
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

export interface ServerInfo {
  version: string;
  read_only: boolean;
  public_metrics: boolean;
}
