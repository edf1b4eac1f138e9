import { JOB_FACTS } from './job-facts.ts';

/** Names that other queues have for fields of a printed job, by the name here. */
const EQUIVALENTS: Record<string, string> = {
  state: 'status job_state',
  attempts: 'attempt attempt_count attempts_made retry_count retries_count tries',
  created_at: 'enqueued_at queued_at submitted_at',
  next_run_at: 'next_retry_at next_attempt_at retry_at',
  worker_id: 'worker locked_by claimed_by reserved_by',
  started_at: 'locked_at claimed_at reserved_at processing_started_at',
  finished_at: 'completed_at ended_at failed_at processed_at',
  last_error: 'error error_message last_error_message failure_reason failed_reason',
  exit_code: 'exitcode return_code returncode',
  duration_ms: 'duration execution_time execution_time_ms runtime_ms',
  pid: 'process_id',
};

const FACTS = new Map<string, string>(Object.keys(JOB_FACTS).map((name) => [name, name]));
for (const [name, others] of Object.entries(EQUIVALENTS))
  for (const other of others.split(' ')) FACTS.set(other, name);

/** Results that other queues print with a job. Here they are the output of its attempts. */
const RESULTS = new Set(['output', 'stdout', 'stderr', 'result', 'logs', 'log_path', 'output_path']);
/** What queuectl itself prints beside the fields of a job. */
const BESIDE = new Set(['history', 'existing', 'schema_version']);

/** Returns the field of a printed job that is called so here or in another queue, or null. */
export function factNamed(name: string): string | null {
  return FACTS.get(snakeCase(name)) ?? null;
}

/** True for a field that describes what became of a job. Such fields are ignored, so that a printed job can be enqueued again. */
export function isOfPrintedJob(name: string): boolean {
  return factNamed(name) !== null || BESIDE.has(name) || RESULTS.has(snakeCase(name));
}

/** Ask for a confinement that queuectl does not provide. */
const CONFINEMENT = new Set(
  `sandbox sandboxed user uid gid run_as run_as_user as_user group memory memory_limit mem_limit max_memory cpu cpus cpu_limit
  max_cpu cpu_quota limits resources network no_network read_only chroot container docker image isolation isolated jail cgroup
  seccomp capabilities`.split(/\s+/),
);

/** True for a field of other tools that asks for confinement. Without it, a command would have more rights than intended. */
export function asksForConfinement(name: string): boolean {
  return CONFINEMENT.has(snakeCase(name));
}

function snakeCase(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll('-', '_');
}
