/* These JSON objects are shared by the HTTP API, the command line and the dashboard. The file has only types for the dashboard. */

export interface ScheduleObject {
  name: string;
  cron: string | null;
  timezone: string | null;
  every_ms: number | null;
  /** The timing in words. */
  text: string;
  overlap: string;
  catch_up: string;
  paused: boolean;
  paused_at: string | null;
  paused_by: string | null;
  next_run_at: string | null;
  /** The next five runs. Empty while the schedule is paused. */
  next_runs: string[];
  last_run_at: string | null;
  last_job_id: string | null;
  /** The number of ticks that wait for an earlier job to end. */
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
  /** The maximum number of jobs that the worker runs at a time. */
  concurrency: number;
  /** Whether the worker runs the same executable as the process that answers. Null if that cannot be determined. */
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
  /** How many of the unchanged are at-most-once jobs, which only a retry by id starts again. */
  skipped: number;
  /** Further jobs that were cancelled because they depended on the changed ones. */
  also_cancelled: number;
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
  /** The most common names and queues of the jobs in the group. */
  names: string[];
  queues: string[];
}

export interface ErrorGroups {
  groups: ErrorGroupObject[];
  looked_at: number;
  /** Whether there are more dead jobs than were read. */
  capped: boolean;
}
