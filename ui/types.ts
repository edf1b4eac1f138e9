/** Types of the answers of the HTTP API, as far as the dashboard reads them. */
import type { JobObject } from '../src/core/job-object.ts';
import type { SeriesObject } from '../src/core/wire.ts';

export type { Percentiles } from '../src/core/histogram.ts';
export type {
  AttemptObject as Attempt,
  ErrorGroupObject as ErrorGroup,
  ErrorGroups,
  FiguresObject as Figures,
  NamedFigures,
  OperationObject as Operation,
  QueueObject as Queue,
  ScheduleObject as Schedule,
  SettingObject as Setting,
  TimesObject as Times,
  WorkerObject as Worker,
} from '../src/core/wire.ts';

export type Job = JobObject;
export type Series = Pick<SeriesObject, 'step_ms' | 'points' | 'total' | 'names'>;

export const STATES = ['pending', 'processing', 'completed', 'failed', 'dead', 'cancelled'] as const;
export type State = (typeof STATES)[number];
export type ByState = Record<State, number>;

export interface JobPage {
  jobs: Job[];
  next_cursor: string | null;
  count: { value: number; capped: boolean };
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

export interface Doctor {
  version: string;
  ok: boolean;
  checks: { check: string; status: 'ok' | 'warn' | 'fail'; says: string; fix: string | null }[];
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
