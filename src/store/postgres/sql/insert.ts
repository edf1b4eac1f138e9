import { FIELD_COLUMNS, PLAIN_COLUMNS } from '../../job-columns.ts';

/** The columns of `job` that hold numbers. All others that an insert sets hold texts. */
const NUMBER_COLUMNS = [
  ...[
    'queue',
    'priority',
    'max_retries',
    'timeout_ms',
    'run_at',
    'blockers',
    'created_at',
    'updated_at',
    'due_at',
  ],
  'unique_until',
];
const typeOf = (column: string): string =>
  column === 'backoff_base' ? 'double precision' : NUMBER_COLUMNS.includes(column) ? 'bigint' : 'text';

/** Returns a statement that inserts many jobs in the given order. Each parameter is an array with one column of all jobs. */
function insertSql(columns: readonly string[], fixed: Record<string, string>): string {
  const arrays = columns.map((column, i) => `$${i + 1}::${typeOf(column)}[]`);
  const given = columns.map((_, i) => `c${i}`);
  return `INSERT INTO job (${[...columns, ...Object.keys(fixed)]})
    SELECT ${[...given, ...Object.values(fixed)]} FROM unnest(${arrays}) WITH ORDINALITY AS given (${given}, ordinal)
    ORDER BY ordinal ON CONFLICT DO NOTHING RETURNING number, id`;
}

/** The columns of pushValues and pushPlainValues in new-rows.ts, in the same order. */
const ALL_COLUMNS = [...FIELD_COLUMNS.split(','), 'blockers', 'phase', 'created_at', 'updated_at', 'due_at'];
export const insertJobs = insertSql(ALL_COLUMNS, { state: "'pending'" });
export const insertPlainJobs = insertSql([...PLAIN_COLUMNS, 'created_at', 'updated_at', 'due_at'], {
  state: "'pending'",
  phase: "'ready'",
});
export const insertUniqueJob = insertSql(
  [...ALL_COLUMNS, 'unique_key', 'unique_while', 'unique_until', 'unique_slot'],
  { state: "'pending'" },
);
