import { QueueError } from '../../core/errors.ts';
import type { LoadCounts, LoadOptions } from '../contract/care.ts';
import { checkNumber, describeRow, isSame } from '../imported-rows.ts';
import type { Row } from '../row.ts';
import { SAVED_TABLES, type SavedTable } from '../tables.ts';
import { STORE_COLUMNS } from './schema.ts';
import * as sql from './sql/care.ts';
import type { Transaction } from './transaction.ts';

export interface LoadedColumn {
  name: string;
  type: string;
}

/** The tables of this store before a load. */
interface Tables {
  /** The highest numbers in use. They are added to the numbers of loaded rows, which therefore stay the same in an empty store. */
  offsets: Record<string, number>;
  columns: Map<string, LoadedColumn[]>;
  hasFigures: boolean;
}

export async function readTables(tx: Transaction): Promise<Tables> {
  const offsets: Record<string, number> = {};
  const columns = new Map<string, LoadedColumn[]>();
  for (const { name, numbered } of SAVED_TABLES) {
    if (numbered) offsets[name] = (await tx.get<{ number: number }>(sql.highestNumber(name)))!.number;
    const own = STORE_COLUMNS[name] ?? [];
    const found = await tx.all<{ name: string; type: string }>(sql.columnsOf, name);
    columns.set(
      name,
      found.filter((column) => !own.includes(column.name)),
    );
  }
  return { offsets, columns, hasFigures: (await tx.get(sql.anyFigure)) !== undefined };
}

/** Returns a function that inserts rows of one table that set the same columns, and the numbers that rows get. */
export function batchInserter(
  tx: Transaction,
  { offsets, hasFigures }: Tables,
  onConflict: LoadOptions['onConflict'],
) {
  const counts: LoadCounts = { added: {}, skipped: {} };
  /** The numbers of queues and jobs that exist in this store, by the number of the imported row. */
  const existing = { queue: new Map<unknown, number>(), job: new Map<unknown, number>() };
  const count = (kind: 'added' | 'skipped', table: string, rows = 1): void => {
    if (rows > 0) counts[kind][table] = (counts[kind][table] ?? 0) + rows;
  };
  const newNumberOf = (table: string, number: unknown): number =>
    (table === 'queue' ? existing.queue.get(number) : undefined) ?? Number(number) + offsets[table]!;
  const handleConflict = (table: SavedTable, row: Row): void => {
    if (onConflict === 'fail')
      throw new QueueError('import-conflict', `${describeRow(table, row)} already exists in this database`);
    count('skipped', table.name);
  };
  /** Handles the rows whose names are taken, and returns the others. */
  const withoutExisting = async (table: SavedTable, rows: Row[]): Promise<Row[]> => {
    const found = await rowsByName(tx, table, rows);
    return rows.filter((row) => {
      const other = found.get(row[table.nameColumns[0]!] ?? null);
      if (other === undefined) return true;
      if (table.name === 'queue' || table.name === 'job')
        existing[table.name].set(row.number, other.number as number);
      const mayBeSame = table.name !== 'job' && table.name !== 'schedule';
      if (!(mayBeSame && isSame(other, row))) handleConflict(table, row);
      return false;
    });
  };
  /** Returns a row with the numbers that it and the rows it refers to have in this store. */
  const renumbered = (table: SavedTable, row: Row): Row => {
    const newRow: Row = { ...row };
    if (table.numbered) newRow.number = checkNumber(table, newNumberOf(table.name, row.number));
    for (const [column, target] of Object.entries(table.refs))
      if (row[column] != null)
        newRow[column] =
          (column === 'parent' && existing.job.get(row.parent)) || newNumberOf(target, row[column]);
    return newRow;
  };
  const insert = async (table: SavedTable, columns: LoadedColumn[], given: Row[]): Promise<void> => {
    const rows = (await withoutExisting(table, given)).map((row) => renumbered(table, row));
    // Figures are skipped with the kind that they belong to.
    const isSkipped = table.name === 'rollup_kind' && hasFigures;
    const owned = isSkipped ? [] : await withoutOrphans(tx, table, rows);
    count('skipped', table.name, rows.length - owned.length);
    if (owned.length === 0) return;
    const arrays = columns.map(({ name }) => owned.map((row) => row[name]!));
    // The output files of the loaded attempts are kept on this host.
    const [host, boot] = tx.host().map((text) => text || null);
    const same = table.name === 'attempt' ? { host: host!, boot: boot! } : {};
    const statement = sql.insertRows(table.name, columns, Object.keys(same));
    const added = await tx.run(statement, ...arrays, ...Object.values(same));
    count('added', table.name, added);
    // A row of an unknown position was not inserted, because a unique key is taken.
    for (let left = owned.length - added; left > 0; left--) handleConflict(table, owned[0]!);
  };
  return { insert, newNumberOf, counts };
}

/** Returns the existing rows with the names of these rows, by name. */
async function rowsByName(tx: Transaction, table: SavedTable, rows: Row[]): Promise<Map<unknown, Row>> {
  const [column] = table.nameColumns;
  if (column === undefined) return new Map();
  const names = rows.map((row) => row[column] ?? null);
  const found = await tx.all(sql.rowsByName(table.name, column), names);
  return new Map(found.map((row) => [row[column], row]));
}

/** Returns the rows without those that belong to a row that was skipped. */
async function withoutOrphans(tx: Transaction, table: SavedTable, rows: Row[]): Promise<Row[]> {
  const [column, owner] = Object.entries(table.refs)[0] ?? [];
  if (table.nameColumns.length > 0 || column === undefined || rows.length === 0) return rows;
  const numbers = [...new Set(rows.flatMap((row) => row[column] ?? []))];
  const found = await tx.all<{ number: number }>(sql.existingNumbers(owner!), numbers);
  const existing = new Set(found.map((row) => row.number));
  return rows.filter((row) => row[column] == null || existing.has(row[column] as number));
}
