/** What the HTTP API, the command line and the dashboard all call by the same names. Types alone: a page needs nothing else. */

export interface ScheduleObject {
  name: string;
  cron: string | null;
  timezone: string | null;
  every_ms: number | null;
  /** When, in words. */
  text: string;
  overlap: string;
  catch_up: string;
  paused: boolean;
  paused_at: string | null;
  paused_by: string | null;
  next_run_at: string | null;
  /** The next five, as of now; none while it is paused. */
  next_runs: string[];
  last_run_at: string | null;
  last_job_id: string | null;
  /** Ticks that wait for the job before them. */
  waiting: number;
  created_at: string;
  command: string;
  argv: string[] | null;
  queue: string;
  job: {
    name: string;
    priority: number;
    max_retries: number | null;
    timeout_ms: number | null;
    backoff_base: number | null;
    cwd: string | null;
    env: Record<string, string>;
    tags: Record<string, string>;
  };
}

export interface WorkerObject {
  id: string;
  pid: number;
  hostname: string;
  started_at: string;
  last_heartbeat: string;
  status: 'idle' | 'busy' | 'draining';
  queues: string[];
  current_jobs: string[];
  /** So many jobs at a time. */
  concurrency: number;
  /** Whether it runs the queuectl that answers; null: that cannot be told from here. */
  same_executable: boolean | null;
}

export interface OperationObject {
  id: string;
  action: string;
  state: 'running' | 'done' | 'stopped' | 'failed';
  total: number;
  done: number;
  changed: number;
  unchanged: number;
  /** Of the unchanged: at-most-once jobs that only a retry by id starts again. */
  skipped: number;
  started_at: string;
  finished_at: string | null;
  error: string | null;
}

export interface ErrorGroupObject {
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
  /** The commonest names and queues of its jobs. */
  names: string[];
  queues: string[];
}

export interface ErrorGroups {
  groups: ErrorGroupObject[];
  looked_at: number;
  /** There are more dead jobs than were looked at. */
  capped: boolean;
}
