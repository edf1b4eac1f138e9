import { kebab } from './field.ts';
import { JOB_FACTS } from './field-list.ts';

/** Names that other queues have for fields of a printed job, by the name in queuectl. */
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

const FACTS_BY_NAME = new Map(
  Object.keys(JOB_FACTS).flatMap((name) =>
    [name, ...(EQUIVALENTS[name]?.split(' ') ?? [])].map((other) => [other, name]),
  ),
);

/** Fields in which other queues print the output of a job. queuectl stores it with the attempts. */
const RESULT_FIELDS = new Set(['output', 'stdout', 'stderr', 'result', 'logs', 'log_path', 'output_path']);
/** Further fields that queuectl prints in some job objects. */
const EXTRA_FIELDS = new Set(['history', 'children', 'also_cancelled', 'existing', 'schema_version']);

/** Returns the field of JOB_FACTS that has this name in queuectl or in another queue, or null if there is none. */
export function factNamed(name: string): string | null {
  return FACTS_BY_NAME.get(snakeCase(name)) ?? null;
}

/** True for a field that only printed jobs have, here or in another queue. It is no error, so that they can be enqueued again. */
export function isPrintedOnly(name: string): boolean {
  return factNamed(name) !== null || EXTRA_FIELDS.has(name) || RESULT_FIELDS.has(snakeCase(name));
}

/** Fields of other tools that ask for a confinement which queuectl does not provide. */
const CONFINEMENT_FIELDS = new Set(
  `sandbox sandboxed user username uid gid run_as run_as_user run_as_group as_user group umask limits resources nice niceness
  ionice network no_network networking read_only readonly chroot rootfs container image isolation isolated isolate jail cgroup
  cgroups seccomp apparmor selinux capabilities cap_drop privileged no_new_privileges firejail nproc nofile`.split(
    /\s+/,
  ),
);
/** Matches limits of a resource in any order: `mem`, `max_memory`, `memory_limit_mb`, `cpu_quota`, `ulimits`. */
const RESOURCE_LIMIT =
  /^(max_|limit_)?(memory|mem|ram|rss|swap|cpus?|cores|[ur]limits?|rlimit_[a-z]+)(_(limits?|max|quota|shares|set|time|percent|[kmg]i?b|bytes))*$/;
/** Matches the options of a container, such as `docker_image`. */
const CONTAINER_OPTION = /^(docker|podman|container)(_|$)/;

/** True for a field that must be refused, because a command without that confinement would have more rights than intended. */
export function asksForConfinement(name: string): boolean {
  const known = snakeCase(name);
  return CONFINEMENT_FIELDS.has(known) || RESOURCE_LIMIT.test(known) || CONTAINER_OPTION.test(known);
}

const snakeCase = (name: string): string => kebab(name).replaceAll('-', '_');
