import type { NamedField } from '../../core/field.ts';
import { KEPT } from '../../core/field-list.ts';
import { printedNames } from '../../core/job-object.ts';
import { isJson } from './job-columns.ts';

const iso = (column: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', ${column} / 1000.0, 'unixepoch')`;

/** Fields that are not columns of the view, because they depend on living processes. */
const NOT_STORED: readonly string[] = ['pid', 'waiting_for'];

/** The columns that are not simply the value of a field. */
const SPECIAL: Record<string, string> = {
  queue: 'q.name',
  depends_on: `coalesce((SELECT json_group_array(iif(value ->> 'on' = 'ok', value ->> 'id', json(value)))
    FROM json_each(j.depends_on)), '[]')`,
  unique_key: 'j.unique_key',
  stdin: '(SELECT CAST(bytes AS TEXT) FROM stdin WHERE stdin.job = j.number)',
  stdin_bytes: "coalesce(j.start ->> 'stdinBytes', 0)",
  created_at: iso('j.created_at'),
  updated_at: iso('j.updated_at'),
  next_run_at: `iif(j.phase = 'blocked', NULL, ${iso('j.due_at')})`,
  started_at: iso('j.started_at'),
  finished_at: iso('j.finished_at'),
  signal: `CASE WHEN j.exit_code > 128 THEN '["SIGHUP","SIGINT","SIGQUIT","SIGILL","SIGTRAP","SIGABRT","SIGBUS","SIGFPE","SIGKILL",
    "SIGUSR1","SIGSEGV","SIGUSR2","SIGPIPE","SIGALRM","SIGTERM","SIGSTKFLT","SIGCHLD","SIGCONT","SIGSTOP","SIGTSTP",
    "SIGTTIN","SIGTTOU","SIGURG","SIGXCPU","SIGXFSZ","SIGVTALRM","SIGPROF","SIGWINCH","SIGIO","SIGPWR","SIGSYS"]'
    ->> (j.exit_code - 129) END`,
};

/** Returns the columns of the view `jobs`: the fields of a printed job, in the same order. */
export function jobView(): string {
  const names = printedNames().filter((name) => !NOT_STORED.includes(name));
  const columns = names.map((name) => {
    const field = KEPT.find((one) => one.name === name);
    const value = SPECIAL[name] ?? (field === undefined ? `j.${name}` : expressionOf(field));
    return `${value} AS ${name}`;
  });
  return columns.join(',\n  ');
}

function expressionOf(field: NamedField): string {
  const column = field.in ?? field.column;
  const stored = column ? `j.${column} ${isJson(field) ? '->' : '->>'} '${field.key}'` : `j.${field.name}`;
  if (field.type!.format === 'date-time') return iso(stored);
  const unset = field.type!.type === 'boolean' ? false : field.default;
  return unset == null || field.plain ? stored : `coalesce(${stored}, ${literal(unset)})`;
}

function literal(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(Number(value));
  return `'${(typeof value === 'string' ? value : JSON.stringify(value)).replaceAll("'", "''")}'`;
}
