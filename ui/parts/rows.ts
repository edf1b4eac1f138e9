import { csvCell, escapeFormula } from '../../src/core/wire/csv.ts';

type Value = string | number | null;

/** Sorts rows by the value that `of` returns. Rows without a value come last. */
export function sortRows<T>(rows: T[], of: (row: T) => Value, down: boolean): T[] {
  return rows.toSorted((a, b) => {
    const [x, y] = [of(a), of(b)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    const way = typeof x === 'number' ? x - (y as number) : x.localeCompare(String(y));
    return down ? -way : way;
  });
}

/** Formats rows as CSV. Text that a spreadsheet would run as a formula is quoted. */
export function csv(rows: Value[][]): string {
  return rows.map((row) => row.map(field).join(',')).join('\r\n');
}

function field(value: Value): string {
  if (typeof value !== 'string') return String(value ?? '');
  return csvCell(escapeFormula(value));
}
