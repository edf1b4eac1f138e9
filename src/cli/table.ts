import type { Io } from './io.ts';
import { type Color, cut, displayWidth, pad, paint, printable } from './text.ts';

export interface Column<Row> {
  title: string;
  value(row: Row): string;
  /** How a person reads it; scripts get `value`. */
  look?(row: Row): string;
  color?(row: Row): Color | undefined;
  /** This column gives way when the terminal is narrow. */
  shrinks?: boolean;
  /** Left out altogether when even that is not enough; the highest goes first. */
  drop?: number;
}

const GAP = '  ';
/** A command shorter than this tells nothing. */
const NARROWEST = 20;

/** Aligned for a person; for a script the same columns, tab-separated, whole and without a header. */
export function printTable<Row>(io: Io, columns: Column<Row>[], rows: Row[]): void {
  if (!io.tty) {
    for (const row of rows) io.out(`${columns.map((column) => plainCell(io, column, row)).join('\t')}\n`);
    return;
  }
  if (rows.length === 0) return;
  printAligned(io, choose(io, columns, rows), rows);
}

/** Whole and for scripts; coloured only when that was asked for. */
function plainCell<Row>(io: Io, column: Column<Row>, row: Row): string {
  const text = printable(column.value(row));
  const color = io.color ? column.color?.(row) : undefined;
  return color === undefined ? text : paint(text, color);
}

/** The columns that fit. */
function choose<Row>(io: Io, columns: Column<Row>[], rows: Row[]): Column<Row>[] {
  const least = (column: Column<Row>): number =>
    column.shrinks ? Math.min(NARROWEST, widthOf(column, rows)) : widthOf(column, rows);
  const chosen = [...columns];
  const room = io.width;
  while (chosen.reduce((sum, column) => sum + least(column) + GAP.length, -GAP.length) > room) {
    const last = chosen.reduce((a, b) => ((b.drop ?? 0) > (a.drop ?? 0) ? b : a));
    if (last.drop === undefined) break;
    chosen.splice(chosen.indexOf(last), 1);
  }
  return chosen;
}

function widthOf<Row>(column: Column<Row>, rows: Row[]): number {
  return Math.max(column.title.length, ...rows.map((row) => displayWidth(shown(column, row))));
}

function shown<Row>(column: Column<Row>, row: Row): string {
  return printable((column.look ?? column.value)(row));
}

function printAligned<Row>(io: Io, columns: Column<Row>[], rows: Row[]): void {
  const cells = rows.map((row) => columns.map((column) => shown(column, row)));
  const widths = columns.map((column) => widthOf(column, rows));
  fit(widths, columns, io.width);
  const bold = (text: string): string => (io.color ? paint(text, 'bold') : text);
  io.out(
    `${line(columns.map((column, i) => bold(i === columns.length - 1 ? column.title : pad(column.title, widths[i]!))))}
`,
  );
  for (const [r, row] of rows.entries()) {
    const parts = columns.map((column, i) => {
      const last = i === columns.length - 1;
      const short = cut(cells[r]![i]!, widths[i]!);
      const text = last ? short : pad(short, widths[i]!);
      const color = io.color ? column.color?.(row) : undefined;
      return color === undefined ? text : paint(text, color);
    });
    io.out(`${line(parts)}\n`);
  }
}

function line(parts: string[]): string {
  return parts.join(GAP).trimEnd();
}

function fit<Row>(widths: number[], columns: Column<Row>[], room: number): void {
  const total = (): number => widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length);
  for (const [i, column] of columns.entries()) {
    if (column.shrinks) widths[i] = Math.max(NARROWEST, Math.min(widths[i]!, widths[i]! - (total() - room)));
  }
}
