import { csvCell, escapeFormula } from '../../core/wire/csv.ts';
import type { Io } from '../frame/io.ts';
import { type Color, cut, displayWidth, pad, paint, printable } from './text.ts';

export interface Column<Row> {
  title: string;
  value(row: Row): string;
  /** Returns the text for an aligned table, if it differs from `value`. */
  alignedValue?(row: Row): string;
  color?(row: Row): Color | undefined;
  /** Shows the column only in aligned tables, because scripts count on the position of the other columns. */
  alignedOnly?: boolean;
  /** Leaves the column out of aligned tables, which show the same in another column. */
  scriptsOnly?: boolean;
  /** Aligns the column to the right, as for numbers. */
  right?: boolean;
  /** Lets the column shrink if the table is too wide. */
  shrinks?: boolean;
  /** The minimum width of a shrinking column, as long as other columns can be dropped. */
  least?: number;
  /** Lets long values be cut if the table is too wide, as for ids. That comes before a column with `drop: 0` is dropped. */
  shortens?: boolean;
  /** Lets the column be dropped if the table is too wide, highest number first, or if all its cells are empty. */
  drop?: number;
}

export type Pair = [name: string, value: string];

interface Cell {
  text: string;
  color: Color | undefined;
}

const WIDEST = Number.POSITIVE_INFINITY;

export const GAP = '  ';
/** The default of `least`. A shorter command could not be recognized. */
const DEFAULT_LEAST = 20;
/** Ids of up to this length, such as UUIDs, are kept as long as other columns can be dropped. */
const KEPT_ID_WIDTH = 36;
/** Columns become this narrow, one step after the other, if no more columns can be dropped. */
const LAST_STEPS: [kind: 'shrinks' | 'shortens', width: number][] = [
  ['shortens', 16],
  ['shrinks', 10],
  ['shortens', 8],
  ['shrinks', 4],
];
const LEAST = Object.fromEntries(LAST_STEPS) as Record<'shrinks' | 'shortens', number>;

/** Prints an aligned table with titles or, for scripts, a full line for each row without titles. */
export function printTable<Row>(io: Io, columns: Column<Row>[], rows: Row[]): void {
  if (!isAligned(io)) {
    for (const row of rows) io.out(`${plainLine(io, columns, row)}\n`);
    return;
  }
  if (rows.length === 0) return;
  const table = align(columns, rows, io.layout.wide ? WIDEST : io.width);
  const print = (cells: Cell[]): void => {
    const texts = cells.map(({ text, color }) =>
      io.color && color !== undefined ? paint(text, color) : text,
    );
    io.out(`${texts.join(GAP).trimEnd()}\n`);
  };
  print(table.titles.map((text) => ({ text, color: 'bold' })));
  for (const cells of table.rows) print(cells);
}

/** Prints names and values: aligned on a terminal, else separated by tabs. */
export function printPairs(io: Io, pairs: Pair[], colorOf?: (pair: Pair) => Color | undefined): void {
  const width = Math.max(...pairs.map(([name]) => name.length));
  for (const [name, value] of pairs) {
    const text = printable(value);
    const color = io.color ? colorOf?.([name, value]) : undefined;
    if (!io.tty) io.out(`${name}\t${text}\n`);
    else io.out(`${pad(name, width)}  ${color === undefined ? text : paint(text, color)}\n`);
  }
}

/** Returns true if tables are aligned: on a terminal, or with `--format table`. */
export function isAligned({ layout: { format }, tty }: Io): boolean {
  return format === null ? tty : format === 'table';
}

/** Returns the line of a row for scripts, or of the titles if `row` is null. Colors the values if `io.color` is true. */
export function plainLine<Row>(io: Io, columns: Column<Row>[], row: Row | null): string {
  const { format } = io.layout;
  const isCsv = format === 'csv';
  // Without --format, the lines are for scripts and not for a spreadsheet.
  const isForSheets = isCsv || format === 'tsv';
  const cells = columns
    .filter((column) => !column.alignedOnly)
    .map((column) => {
      const text = row === null ? column.title : printable(column.value(row));
      const color = io.color && row !== null ? column.color?.(row) : undefined;
      const safe = isForSheets && row !== null ? escapeFormula(text) : text;
      const cell = isCsv ? csvCell(safe) : safe;
      return color === undefined ? cell : paint(cell, color);
    });
  return cells.join(isCsv ? ',' : '\t');
}

/**
 * Returns the columns of an aligned table. Drops empty ones, and then more until the others fit, as far as `drop` allows. A
 * column with `drop: 0` is kept as long as it fits beside the others at their narrowest. Columns at the end are dropped if not
 * even that is enough.
 */
function chooseColumns<Row>(columns: Column<Row>[], rows: Row[], room: number): Column<Row>[] {
  const chosen = columns.filter(
    (column) =>
      !column.scriptsOnly && (column.drop === undefined || rows.some((row) => cellText(column, row) !== '')),
  );
  const widths = new Map(chosen.map((column) => [column, widthOf(column, rows)]));
  const fits = (leastWidth: (column: Column<Row>) => number): boolean =>
    totalWidth(chosen.map((column) => Math.min(leastWidth(column), widths.get(column)!))) <= room;
  const dropUntil = (isEnough: () => boolean, leastDrop: number): void => {
    while (!isEnough()) {
      const last = chosen.reduce((a, b) => ((b.drop ?? -1) > (a.drop ?? -1) ? b : a));
      if ((last.drop ?? -1) < leastDrop) break;
      chosen.splice(chosen.indexOf(last), 1);
    }
  };
  const isNarrowEnough = () =>
    fits(({ shrinks, shortens }) => (shrinks ? LEAST.shrinks : shortens ? LEAST.shortens : WIDEST));
  const isComfortable = () =>
    fits(({ shrinks, shortens, least = DEFAULT_LEAST }) =>
      shrinks ? least : shortens ? KEPT_ID_WIDTH : WIDEST,
    );
  dropUntil(isComfortable, 1);
  dropUntil(isNarrowEnough, 0);
  while (chosen.length > 1 && !isNarrowEnough()) chosen.pop();
  return chosen;
}

function totalWidth(widths: number[]): number {
  return widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
}

/** Returns the width of a table in which no column is dropped or cut. */
export function tableWidth<Row>(columns: Column<Row>[], rows: Row[]): number {
  return totalWidth(columns.map((column) => widthOf(column, rows)));
}

function widthOf<Row>(column: Column<Row>, rows: Row[]): number {
  return Math.max(column.title.length, ...rows.map((row) => displayWidth(cellText(column, row))));
}

function cellText<Row>(column: Column<Row>, row: Row): string {
  return printable((column.alignedValue ?? column.value)(row));
}

/** Lays a table out for a width. Cells are padded, except for a left-aligned one at the end of a row. */
export function align<Row>(columns: Column<Row>[], rows: Row[], width: number) {
  const chosen = chooseColumns(columns, rows, width);
  const widths = chosen.map((column) => widthOf(column, rows));
  shrinkToFit(widths, chosen, width);
  const padCell = (text: string, i: number): string => {
    if (chosen[i]!.right) return ' '.repeat(Math.max(0, widths[i]! - displayWidth(text))) + text;
    return i === chosen.length - 1 ? text : pad(text, widths[i]!);
  };
  return {
    titles: chosen.map((column, i) => padCell(cut(column.title, widths[i]!), i)),
    rows: rows.map((row) =>
      chosen.map((column, i) => ({
        text: padCell(cut(cellText(column, row), widths[i]!), i),
        color: column.color?.(row),
      })),
    ),
  };
}

/** Reduces the widths until the table fits: first the shrinking columns, then ids, then both further. */
function shrinkToFit<Row>(widths: number[], columns: Column<Row>[], room: number): void {
  const shrink = (leastOf: (column: Column<Row>) => number | undefined): void => {
    for (const [i, column] of columns.entries()) {
      const over = Math.max(0, totalWidth(widths) - room);
      widths[i] = Math.min(widths[i]!, Math.max(leastOf(column) ?? WIDEST, widths[i]! - over));
    }
  };
  shrink(({ shrinks, least = DEFAULT_LEAST }) => (shrinks ? least : undefined));
  for (const [kind, width] of LAST_STEPS) shrink((column) => (column[kind] ? width : undefined));
  // Only a single column can still be too wide.
  shrink(() => 1);
}
