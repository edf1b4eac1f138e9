/** Types of the answers of the HTTP API, as far as the dashboard reads them. */
import { STATES, type State } from '../src/core/jobs/job.ts';
import type { JobObject } from '../src/core/jobs/job-object.ts';
import type { ReasonCounts, WaitingReason } from '../src/core/jobs/waiting-reason.ts';
import type { SeriesObject } from '../src/core/wire/wire.ts';

export type { Percentiles } from '../src/core/rules/histogram.ts';
export type {
  AttemptObject as Attempt,
  ErrorGroupObject as ErrorGroup,
  ErrorGroups,
  FiguresObject as Figures,
  NamedFigures,
  OperationObject as Operation,
  OperationPreview,
  QueueObject as Queue,
  ScheduleObject as Schedule,
  SettingObject as Setting,
  TimesObject as Times,
  WorkerObject as Worker,
} from '../src/core/wire/wire.ts';

export type Job = JobObject;
export type Series = Pick<SeriesObject, 'step_ms' | 'data_from' | 'points' | 'total' | 'names'>;

export { STATES, type State };
export type ByState = Record<State, number>;

export const REASONS = [
  ...(['held', 'blocked', 'scheduled', 'retrying', 'queue_paused', 'no_worker', 'at_limit'] as const),
  ...(['rate_limited', 'ready'] as const),
] satisfies WaitingReason[];
export type Reason = WaitingReason;

/** The waiting jobs of a queue by reason. */
export interface WaitingCount {
  queue: string;
  jobs: ReasonCounts;
}

export interface JobPage {
  jobs: Job[];
  next_cursor: string | null;
  count: { value: number; capped: boolean };
}

export interface Explanation {
  id: string;
  state: State;
  waiting_for: Reason | null;
  reasons: string[];
}

/** The jobs that depend on a job, and how many would be cancelled with it. A count of MOST_CHILDREN means that many or more. */
export interface Children {
  children: { id: string; on: string; state: State; waiting: boolean }[];
  total: number;
  cancelled_with_it: number;
  cancelled_if_deleted: number;
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

/** Returns the number of attempts charged to a job, plus one for the attempt that is running. */
export const attemptsUsed = ({ attempts, state }: Job): number =>
  state === 'processing' ? attempts + 1 : attempts;
