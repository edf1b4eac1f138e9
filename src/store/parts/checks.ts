import { COUNTS, NAME_COLUMNS, RANGES, type Range } from '../ranges.ts';
import { all, type Engine, type Steps, statementsOf } from '../steps.ts';
import { type SavedTable, savedTable, unreadableColumn } from '../tables.ts';
import { CURRENT_COUNTS } from './log.ts';

/** The message about a violated rule lists this many rows. */
const ROWS_PER_RULE = 5;

/* These statements may read whole tables. */

const outside = (column: string, [min, max]: Range): string => `(${column} < ${min} OR ${column} > ${max})`;

/** Returns a query for the rows that hold a number or a time out of range, with the names of the columns. */
function outOfRange(table: string): string {
  const { ownColumns } = savedTable(table);
  const ranges = Object.entries({
    ...(NAME_COLUMNS[table] ? { number: COUNTS } : {}),
    ...RANGES[table],
  }).filter(([column]) => !ownColumns.includes(column));
  const columns = ranges.map(([one, range]) => `CASE WHEN ${outside(one, range)} THEN '${one}' END`);
  const name = NAME_COLUMNS[table] ?? Object.keys(RANGES[table]!)[0]!;
  return `SELECT '${table} ' || ${name} || ': ' || concat_ws(', ', ${columns.join(', ')}) AS row FROM ${table}
    WHERE ${ranges.map(([column, range]) => outside(column, range)).join(' OR ')}`;
}

const COUNTED = 'SELECT queue, state, count(*) AS jobs, sum(bytes) AS bytes FROM job GROUP BY queue, state';

/** The rules that hold between rows. Each statement finds the rows that break its rule. */
const rulesOf = statementsOf(({ ownRules }): Record<string, string> => {
  const current = `SELECT queue, state, jobs, bytes FROM (${CURRENT_COUNTS}) AS current WHERE jobs > 0`;
  return {
    'the epoch, the origin and the store id have 12 hex digits': `SELECT key AS row FROM meta
      WHERE key IN ('epoch', 'origin', 'store') AND (length(value) <> 12 OR trim(value, '0123456789abcdef') <> '')`,
    'numbers and times are within their ranges': Object.keys(RANGES).map(outOfRange).join(' UNION ALL '),
    'the counters and the log match the rows': `SELECT DISTINCT queue || ' ' || state AS row FROM (
      SELECT * FROM (${COUNTED} EXCEPT ${current}) AS missing
      UNION ALL SELECT * FROM (${current} EXCEPT ${COUNTED}) AS wrong) AS difference`,
    'every running job has an attempt that has not ended': `SELECT id AS row FROM job WHERE phase = 'running'
      AND NOT EXISTS (SELECT 1 FROM attempt WHERE attempt.number = job.attempt AND attempt.job = job.number
        AND attempt.token = job.token AND finished_at IS NULL)`,
    'every attempt that has not ended belongs to a running job': `SELECT number AS row FROM attempt WHERE finished_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM job WHERE job.number = attempt.job AND phase = 'running' AND job.attempt = attempt.number)`,
    'no attempt number is higher than the run count of its job': `SELECT attempt.number AS row
      FROM attempt JOIN job ON job.number = attempt.job WHERE ordinal > runs`,
    'every job has the correct number of open dependencies': `SELECT id AS row FROM job WHERE blockers <>
      (SELECT count(*) FROM dependency WHERE child = job.number AND dependency.phase = 'open')
      OR (phase = 'blocked' AND blockers = 0) OR (phase IN ('ready', 'waiting', 'running') AND blockers > 0)`,
    'no job waits for a job that has ended or is gone': `SELECT child AS row FROM dependency WHERE phase = 'open'
      AND NOT EXISTS (SELECT 1 FROM job WHERE job.number = parent AND job.phase <> 'ended')`,
    'the number of waiting ticks is correct': `SELECT name AS row FROM schedule WHERE waiting <>
      (SELECT count(*) FROM tick WHERE tick.schedule = schedule.number AND tick.phase = 'waiting')`,
    ...ownRules,
  };
});

/** The tables with JSON of which every row is parsed, as they are called in a rule. */
const PARSED = { job: 'jobs', schedule: 'schedules', idempotency: 'idempotency keys' };

/** Reads the columns of a table that hold JSON. `row` names the row. */
function rowsWithJson({ name, nameColumns, json }: SavedTable): string {
  const columns = Object.keys(json).join(', ');
  return `SELECT ${nameColumns[0]} AS row, ${columns} FROM ${name} WHERE coalesce(${columns}, NULL) IS NOT NULL`;
}

const HISTOGRAMS = `SELECT tier || ' ' || at || ' ' || kind AS row, wait, wait_least, wait_most, run, run_least, run_most
  FROM rollup`;

/** Returns the names of the rows with a column that cannot be parsed. SQL cannot compare JSON with the shapes of the columns. */
function* unreadableRows(db: Engine, table: string, query: string): Steps<string[]> {
  const names: string[] = [];
  yield* db.each(query, ({ row, ...columns }) => {
    if (unreadableColumn(savedTable(table), columns) !== undefined) names.push(String(row));
  });
  return names;
}

/** Returns a line for each rule that does not hold. Each rule is checked at one moment. Workers may be running meanwhile. */
export async function violatedRules(db: Engine): Promise<string[]> {
  const rowsOf = function* (query: string): Steps<string[]> {
    return (yield* all(query)).map(({ row }) => String(row));
  };
  const rules: [string, () => Steps<string[]>][] = [
    ...Object.entries(rulesOf(db.dialect)).map(([rule, query]): [string, () => Steps<string[]>] => [
      rule,
      () => rowsOf(query),
    ]),
    ...Object.entries(PARSED).map(([table, name]): [string, () => Steps<string[]>] => [
      `JSON fields of ${name} contain valid JSON`,
      () => unreadableRows(db, table, rowsWithJson(savedTable(table))),
    ]),
    ['all figures have valid histograms', () => unreadableRows(db, 'rollup', HISTOGRAMS)],
  ];
  const problems: string[] = [];
  for (const [rule, find] of rules) {
    try {
      problems.push(...problemsOfRule(rule, await db.read(find)));
    } catch (error) {
      problems.push(`could not check that ${rule}: ${(error as Error).message}`);
    }
  }
  return problems;
}

/** Returns the problem that rows break a rule, or nothing if there are none. */
function problemsOfRule(rule: string, rows: string[]): string[] {
  if (rows.length === 0) return [];
  const shown = rows.slice(0, ROWS_PER_RULE).join(', ');
  const more = rows.length > ROWS_PER_RULE ? ` and ${rows.length - ROWS_PER_RULE} more` : '';
  return [`violated: ${rule} (${shown}${more})`];
}
