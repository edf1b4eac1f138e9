import type { NamedField } from '../../core/jobs/field.ts';
import { isJson, KEPT_FIELDS } from '../../core/jobs/field-list.ts';
import { printedFieldNames } from '../../core/jobs/job-object.ts';
import { defaultOf, SETTINGS, type Setting } from '../../core/settings/settings.ts';
import { signalName } from '../../core/signals.ts';
import type { Schema } from '../../core/wire/schema.ts';

/** The differences between the databases in the text of the views. */
export interface ViewDialect {
  /** Returns an expression for a text that is computed. */
  text(expression: string): string;
  /** Returns an expression for a time that is stored as a number. */
  time(column: string): string;
  /** Returns an expression for a column that holds JSON. */
  json(column: string): string;
  /** Returns an expression for a value of this type in a JSON object. */
  property(object: string, name: string, type: 'text' | 'integer' | 'number' | 'boolean' | 'json'): string;
  /** Returns a query for a JSON array of what `from` yields. */
  array(value: string, from: string): string;
  /** The parents of the job `j`, as a printed job shows them. */
  dependsOn: string;
  /** The standard input of the job `j` as a text. */
  stdin: string;
  /** Tells whether several hosts can use a store, which changes some defaults of settings. */
  manyHosts: boolean;
  /** Creates the views and functions that are in this database only. */
  more: string;
}

/** Fields that are not columns of the view `jobs`, because they depend on running processes. */
const NOT_STORED: readonly string[] = ['pid', 'waiting_for'];
const LAST_SIGNAL = 31;
/** Nobody can write to a view that joins something. */
const READ_ONLY = ' CROSS JOIN (SELECT 1 AS one) AS read_only';

/**
 * Creates the documented views for people and programs that read the store with SQL. They are created again with every migration, so
 * that no migration has to repeat them. A change of a job field, a setting or a default therefore needs a migration, which may be empty.
 */
export const viewText = (dialect: ViewDialect): string => {
  const { text, time, json, property, array, more } = dialect;
  const running = "FROM job WHERE phase = 'running' AND job.worker_id = worker.id";
  return `
CREATE VIEW jobs AS
SELECT ${jobColumns(dialect)}
FROM job j JOIN queue q ON q.number = j.queue;

CREATE VIEW dlq_jobs AS SELECT * FROM jobs WHERE state = 'dead';

CREATE VIEW workers AS
SELECT id, pid, hostname,
  ${time('started_at')} AS started_at,
  ${time('last_heartbeat')} AS last_heartbeat,
  ${text(`CASE WHEN draining = 1 OR stop_order > 0 THEN 'draining'
    WHEN EXISTS (SELECT 1 ${running}) THEN 'busy' ELSE 'idle' END`)} AS status,
  ${json(`coalesce(queues, '["*"]')`)} AS queues,
  ${array('job.id', running)} AS current_jobs
FROM worker${READ_ONLY};

/* Environment variables, which can replace settings, are not visible here. */
CREATE VIEW config AS
SELECT ${text('given.key')} AS key, ${text('coalesce(setting.value, given.value)')} AS value, ${text('given.value')} AS default_value,
  ${time('setting.updated_at')} AS updated_at
FROM (${defaults(dialect.manyHosts)}) AS given LEFT JOIN setting ON setting.key = given.key;

CREATE VIEW schedules AS
SELECT name, cron, zone AS timezone, every_ms, overlap, catch_up, paused_at IS NOT NULL AS paused,
  ${time('paused_at')} AS paused_at, paused_by,
  ${time('next_at')} AS next_run_at,
  ${time('last_at')} AS last_run_at,
  last_job AS last_job_id, waiting,
  ${time('created_at')} AS created_at,
  ${property('job', 'command', 'text')} AS command, ${property('job', 'argv', 'json')} AS argv,
  ${text(`coalesce(${property('job', 'queue', 'text')}, 'default')`)} AS queue
FROM schedule${READ_ONLY};
${more}`;
};

/** Returns the names of the views that a text creates, in this order. */
export const viewNames = (text: string): string[] =>
  [...text.matchAll(/^CREATE VIEW (\w+)/gm)].map(([, name]) => name!);

/** Returns a query for the names and defaults of all settings. */
function defaults(manyHosts: boolean): string {
  const rows = Object.entries<Setting<never>>(SETTINGS as never).map(
    ([key, setting]) =>
      `SELECT ${literal(key)} AS key, ${literal(setting.format(defaultOf(setting, manyHosts)))} AS value`,
  );
  return rows.join('\n  UNION ALL ');
}

/** Returns the columns of the view `jobs`: the fields of a printed job, in the same order. */
function jobColumns(dialect: ViewDialect): string {
  const special = specialColumns(dialect);
  const names = printedFieldNames().filter((name) => !NOT_STORED.includes(name));
  const columns = names.map((name) => {
    const field = KEPT_FIELDS.find((one) => one.name === name);
    const value = special[name] ?? (field === undefined ? `j.${name}` : expressionOf(dialect, field));
    return `${value} AS ${name}`;
  });
  return columns.join(',\n  ');
}

/** Returns the expressions for columns of the view `jobs` that are not simply the value of a field. */
function specialColumns({ text, time, property, dependsOn, stdin }: ViewDialect): Record<string, string> {
  const times = ['created_at', 'updated_at', 'started_at', 'finished_at'];
  const signals = Array.from(
    { length: LAST_SIGNAL },
    (_, i) => `WHEN ${i + 129} THEN ${literal(signalName(i + 1))}`,
  );
  return {
    ...Object.fromEntries(times.map((name) => [name, time(`j.${name}`)])),
    queue: 'q.name',
    depends_on: dependsOn,
    unique_key: 'j.unique_key',
    stdin: text(stdin),
    stdin_bytes: `coalesce(${property('j.start', 'stdinBytes', 'integer')}, 0)`,
    next_run_at: `CASE WHEN j.phase <> 'blocked' THEN ${time('j.due_at')} END`,
    signal: text(`CASE j.exit_code ${signals.join(' ')} END`),
  };
}

function expressionOf({ time, json, property }: ViewDialect, field: NamedField): string {
  const { type, format } = field.type!;
  const isTime = format === 'date-time';
  const object = field.in ?? field.column;
  const value = object
    ? property(`j.${object}`, field.key, isTime ? 'integer' : columnType(field.type!))
    : `j.${field.name}`;
  if (isTime) return time(value);
  const shown = !object && isJson({ type: field.type! }) ? json(value) : value;
  const unset = type === 'boolean' ? false : field.default;
  return unset == null || field.plain ? shown : `coalesce(${shown}, ${literal(unset)})`;
}

function columnType(schema: Schema): Parameters<ViewDialect['property']>[2] {
  const { type } = schema;
  if (isJson({ type: schema })) return 'json';
  return type === 'integer' || type === 'number' || type === 'boolean' ? type : 'text';
}

function literal(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return `'${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll("'", "''")}'`;
}
