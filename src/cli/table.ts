import type { Io } from './io.ts';
import { type Color, cut, displayWidth, pad, paint, printable } from './text.ts';

export interface Column<Row> {
  title: string;
  value(row: Row): string;
  /** What stands in an aligned table instead. */
  look?(row: Row): string;
  color?(row: Row): Color | undefined;
  /** Scripts count columns: this one is not theirs. */
  terminal?: boolean;
  /** Numbers stand at the right. */
  right?: boolean;
  /** This column gives way when the terminal is narrow. */
  shrinks?: boolean;
  /** But not below so many columns, as long as others can be left out. */
  least?: number;
  /** Left out if the table is still too wide, highest first. Also left out if it is empty in every row. */
  drop?: number;
}

export const GAP = '  ';
/** A command shorter than this tells nothing. */
const NARROWEST = 20;
/** Shrinking columns become this narrow if no more columns can be left out. */
const LAST_RESORT = 4;

/** Aligned for a person; for a script the same columns, tab-separated, whole and without a header. */
export function printTable<Row>(io: Io, columns: Column<Row>[], rows: Row[]): void {
  if (!isAligned(io)) for (const row of rows) io.out(`${plainLine(io, columns, row)}\n`);
  else if (rows.length > 0) printAligned(io, columns, rows);
}

/** A person reads it, or it was asked for. */
export function isAligned({ layout: { format }, tty }: Io): boolean {
  return format === null ? tty : format === 'table';
}

/** A row for scripts: whole, coloured only when that was asked for; of no row the titles. */
export function plainLine<Row>(io: Io, columns: Column<Row>[], row: Row | null): string {
  const comma = io.layout.format === 'csv';
  const cells = columns
    .filter((column) => !column.terminal)
    .map((column) => {
      const text = row === null ? column.title : printable(column.value(row));
      const color = io.color && row !== null ? column.color?.(row) : undefined;
      const cell = comma ? csvCell(row === null ? text : defused(text)) : text;
      return color === undefined ? cell : paint(cell, color);
    });
  return cells.join(comma ? ',' : '\t');
}

/** A spreadsheet would take text that begins like this for a formula, and run it; a number stays one. */
function defused(text: string): string {
  return /^[=+\-@＝＋－＠]/.test(text) && !/^[+-]?\d+(\.\d+)?$/.test(text) ? `'${text}` : text;
}

function csvCell(text: string): string {
  return /[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The columns that fit. */
function choose<Row>(columns: Column<Row>[], rows: Row[], room: number): Column<Row>[] {
  const least = (column: Column<Row>): number =>
    column.shrinks ? Math.min(column.least ?? NARROWEST, widthOf(column, rows)) : widthOf(column, rows);
  const chosen = columns.filter(
    (column) => column.drop === undefined || rows.some((row) => shown(column, row) !== ''),
  );
  while (chosen.reduce((sum, column) => sum + least(column) + GAP.length, -GAP.length) > room) {
    const last = chosen.reduce((a, b) => ((b.drop ?? -1) > (a.drop ?? -1) ? b : a));
    if (last.drop === undefined) break;
    chosen.splice(chosen.indexOf(last), 1);
  }
  return chosen;
}

/** Returns how many columns of a terminal the whole table takes. */
export function tableWidth<Row>(columns: Column<Row>[], rows: Row[]): number {
  return columns.reduce((sum, column) => sum + widthOf(column, rows) + GAP.length, -GAP.length);
}

function widthOf<Row>(column: Column<Row>, rows: Row[]): number {
  return Math.max(column.title.length, ...rows.map((row) => displayWidth(shown(column, row))));
}

function shown<Row>(column: Column<Row>, row: Row): string {
  return printable((column.look ?? column.value)(row));
}

/** A table laid out for a width: what stands in each cell, padded but for the last of a row. */
export interface Aligned {
  titles: string[];
  rows: { text: string; color: Color | undefined }[][];
}

export function align<Row>(columns: Column<Row>[], rows: Row[], width: number): Aligned {
  const chosen = choose(columns, rows, width);
  const widths = chosen.map((column) => widthOf(column, rows));
  fit(widths, chosen, width);
  const place = (text: string, i: number): string => {
    if (chosen[i]!.right) return ' '.repeat(Math.max(0, widths[i]! - displayWidth(text))) + text;
    return i === chosen.length - 1 ? text : pad(text, widths[i]!);
  };
  return {
    titles: chosen.map((column, i) => place(cut(column.title, widths[i]!), i)),
    rows: rows.map((row) =>
      chosen.map((column, i) => ({
        text: place(cut(shown(column, row), widths[i]!), i),
        color: column.color?.(row),
      })),
    ),
  };
}

function printAligned<Row>(io: Io, columns: Column<Row>[], rows: Row[]): void {
  const table = align(columns, rows, io.layout.wide ? Number.POSITIVE_INFINITY : io.width);
  const look = (text: string, color: Color | undefined): string =>
    io.color && color !== undefined ? paint(text, color) : text;
  io.out(`${line(table.titles.map((title) => look(title, 'bold')))}\n`);
  for (const cells of table.rows) io.out(`${line(cells.map(({ text, color }) => look(text, color)))}\n`);
}

function line(parts: string[]): string {
  return parts.join(GAP).trimEnd();
}

function fit<Row>(widths: number[], columns: Column<Row>[], room: number): void {
  const total = (): number => widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  const shrink = (least: (column: Column<Row>) => number): void => {
    for (const [i, column] of columns.entries()) {
      if (!column.shrinks) continue;
      const over = Math.max(0, total() - room);
      widths[i] = Math.min(widths[i]!, Math.max(least(column), widths[i]! - over));
    }
  };
  shrink((column) => column.least ?? NARROWEST);
  shrink(() => LAST_RESORT);
}
