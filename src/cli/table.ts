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
}

const GAP = '  ';
const NARROWEST = 10;

/** Aligned for a person; for a script the same columns, tab-separated, whole and without a header. */
export function printTable<Row>(io: Io, columns: Column<Row>[], rows: Row[]): void {
  if (!io.tty) {
    for (const row of rows) io.out(`${columns.map((column) => printable(column.value(row))).join('\t')}\n`);
    return;
  }
  if (rows.length === 0) return;
  const cells = rows.map((row) => columns.map((column) => printable((column.look ?? column.value)(row))));
  const widths = columns.map((column, i) =>
    Math.max(column.title.length, ...cells.map((line) => displayWidth(line[i]!))),
  );
  fit(widths, columns, io.width);
  const bold = (text: string): string => (io.color ? paint(text, 'bold') : text);
  io.out(`${line(columns.map((column, i) => bold(pad(column.title, widths[i]!))))}\n`);
  for (const [r, row] of rows.entries()) {
    const parts = columns.map((column, i) => {
      const last = i === columns.length - 1;
      const shown = cut(cells[r]![i]!, widths[i]!);
      const text = last ? shown : pad(shown, widths[i]!);
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
