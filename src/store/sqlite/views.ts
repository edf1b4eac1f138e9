import type { NamedField } from '../../core/jobs/field.ts';
import { KEPT_FIELDS } from '../../core/jobs/field-list.ts';
import { printedFieldNames } from '../../core/jobs/job-object.ts';
import { isJson } from '../stored-columns.ts';

const isoTime = (column: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`;

/** Fields that are not columns of the view `jobs`, because they depend on running processes. */
const NOT_STORED: readonly string[] = ['pid', 'waiting_for'];

/** The expressions for columns of the view `jobs` that are not simply the value of a field. */
const SPECIAL_COLUMNS: Record<string, string> = {
  queue: 'q.name',
  depends_on: `coalesce((SELECT json_group_array(iif(value ->> 'on' = 'ok', value ->> 'id', json(value)))
    FROM json_each(j.depends_on)), '[]')`,
  unique_key: 'j.unique_key',
  stdin: '(SELECT CAST(bytes AS TEXT) FROM stdin WHERE stdin.job = j.number)',
  stdin_bytes: "coalesce(j.start ->> 'stdinBytes', 0)",
  created_at: isoTime('j.created_at'),
  updated_at: isoTime('j.updated_at'),
  next_run_at: `iif(j.phase = 'blocked', NULL, ${isoTime('j.due_at')})`,
  started_at: isoTime('j.started_at'),
  finished_at: isoTime('j.finished_at'),
  signal: `CASE WHEN j.exit_code > 128 THEN '["SIGHUP","SIGINT","SIGQUIT","SIGILL","SIGTRAP","SIGABRT","SIGBUS","SIGFPE","SIGKILL",
    "SIGUSR1","SIGSEGV","SIGUSR2","SIGPIPE","SIGALRM","SIGTERM","SIGSTKFLT","SIGCHLD","SIGCONT","SIGSTOP","SIGTSTP",
    "SIGTTIN","SIGTTOU","SIGURG","SIGXCPU","SIGXFSZ","SIGVTALRM","SIGPROF","SIGWINCH","SIGIO","SIGPWR","SIGSYS"]'
    ->> (j.exit_code - 129) END`,
};

/**
 * Creates the documented views for people who open the file with `sqlite3`. They are created again with every migration, so
 * that no migration has to repeat them.
 */
export default (): string => `
DROP VIEW IF EXISTS dlq_jobs;
DROP VIEW IF EXISTS jobs;
DROP VIEW IF EXISTS workers;
DROP VIEW IF EXISTS config;
DROP VIEW IF EXISTS schedules;

CREATE VIEW jobs AS
SELECT ${jobColumns()}
FROM job j JOIN queue q ON q.number = j.queue;

CREATE VIEW dlq_jobs AS SELECT * FROM jobs WHERE state = 'dead';

CREATE VIEW workers AS
SELECT id, pid, hostname,
  ${isoTime('started_at')} AS started_at,
  ${isoTime('last_heartbeat')} AS last_heartbeat,
  CASE WHEN draining = 1 OR stop_order > 0 THEN 'draining'
    WHEN EXISTS (SELECT 1 FROM job WHERE phase = 'running' AND job.worker_id = worker.id) THEN 'busy'
    ELSE 'idle' END AS status,
  coalesce(queues, '["*"]') AS queues,
  (SELECT json_group_array(job.id) FROM job WHERE phase = 'running' AND job.worker_id = worker.id) AS current_jobs
FROM worker;

CREATE VIEW config AS SELECT key, value FROM setting;

CREATE VIEW schedules AS
SELECT name, cron, zone AS timezone, every_ms, overlap, catch_up, paused_at IS NOT NULL AS paused,
  ${isoTime('paused_at')} AS paused_at, paused_by,
  ${isoTime('next_at')} AS next_run_at,
  ${isoTime('last_at')} AS last_run_at,
  last_job AS last_job_id, waiting,
  ${isoTime('created_at')} AS created_at,
  job ->> 'command' AS command, job -> 'argv' AS argv, coalesce(job ->> 'queue', 'default') AS queue
FROM schedule;
`;

/** Returns the columns of the view `jobs`: the fields of a printed job, in the same order. */
function jobColumns(): string {
  const names = printedFieldNames().filter((name) => !NOT_STORED.includes(name));
  const columns = names.map((name) => {
    const field = KEPT_FIELDS.find((one) => one.name === name);
    const value = SPECIAL_COLUMNS[name] ?? (field === undefined ? `j.${name}` : expressionOf(field));
    return `${value} AS ${name}`;
  });
  return columns.join(',\n  ');
}

function expressionOf(field: NamedField): string {
  const column = field.in ?? field.column;
  const stored = column
    ? `j.${column} ${isJson({ type: { type: field.type!.type } }) ? '->' : '->>'} '${field.key}'`
    : `j.${field.name}`;
  if (field.type!.format === 'date-time') return isoTime(stored);
  const unset = field.type!.type === 'boolean' ? false : field.default;
  return unset == null || field.plain ? stored : `coalesce(${stored}, ${literal(unset)})`;
}

function literal(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(Number(value));
  return `'${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll("'", "''")}'`;
}
