import { COUNTS, NAME_COLUMNS, RANGES, type Range } from '../../ranges.ts';

function outsideRangeSql(column: string, [min, max]: Range): string {
  return `(${column} < ${min} OR ${column} > ${max})`;
}

/** Returns a query for the rows that hold a number or a time out of range, with the names of the columns. */
export function outOfRangeRowsSql(table: string): string {
  const ranges = Object.entries({ ...(NAME_COLUMNS[table] ? { number: COUNTS } : {}), ...RANGES[table] });
  const columns = ranges.map(([one, range]) => `iif(${outsideRangeSql(one, range)}, '${one}', NULL)`);
  const name = NAME_COLUMNS[table] ?? Object.keys(RANGES[table]!)[0]!;
  return `SELECT '${table} ' || ${name} || ': ' || concat_ws(', ', ${columns.join(', ')}) AS row FROM ${table}
    WHERE ${ranges.map(([column, range]) => outsideRangeSql(column, range)).join(' OR ')}`;
}
