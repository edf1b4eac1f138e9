import { QueueError } from '../../core/errors.ts';
import type { ExportedRow, LoadOptions } from '../contract/care.ts';
import { checkColumns, invalidError } from '../imported-rows.ts';
import type { Row } from '../row.ts';
import { SAVED_TABLES, type SavedTable } from '../tables.ts';
import { isInvalidValue } from './failures.ts';
import { batchInserter, type LoadedColumn, readTables } from './load-batch.ts';
import * as sql from './sql/care.ts';
import type { Transaction } from './transaction.ts';

/** At most this many rows are inserted by one statement. */
const ROWS_AT_ONCE = 500;

/** Reports that one of several rows that were inserted together is invalid, or exists already. */
export class InvalidBatch extends QueueError {
  /** The index of the first row of the batch, among all rows that were read. */
  readonly firstRow: number;

  constructor(firstRow: number) {
    super('import-invalid', 'one of several rows is invalid');
    this.firstRow = firstRow;
  }
}

/** Rows of one table that set the same columns. */
interface Batch {
  table: SavedTable;
  columns: LoadedColumn[];
  rows: Row[];
  /** A row with the same name as another one has to come in a later batch, because it is compared with that one. */
  names: Set<unknown>;
  firstRow: number;
}

/** Returns a loader that inserts rows in batches, and one by one from the row with the index `firstSingle` on. */
export async function createLoader(
  tx: Transaction,
  onConflict: LoadOptions['onConflict'],
  firstSingle: number,
) {
  const tables = await readTables(tx);
  const { insert, newNumberOf, counts } = batchInserter(tx, tables, onConflict);
  let batch: Batch | null = null;
  let rowsRead = 0;
  const fits = ({ table, columns, rows, names }: Batch, other: Batch): boolean =>
    table === other.table &&
    rows.length < ROWS_AT_ONCE &&
    rowsRead < firstSingle &&
    [...other.names].every((name) => !names.has(name)) &&
    columns.length === other.columns.length &&
    columns.every((column, i) => column === other.columns[i]);
  /** Inserts the rows that were added since the last flush. */
  const flush = async (): Promise<void> => {
    if (batch === null) return;
    const { table, columns, rows, firstRow } = batch;
    batch = null;
    try {
      await insert(table, columns, rows);
    } catch (error) {
      if (!(error instanceof QueueError || isInvalidValue(error))) throw error;
      if (rows.length > 1) throw new InvalidBatch(firstRow);
      throw error instanceof QueueError ? error : invalidError((error as Error).message);
    }
  };
  return {
    offsets: tables.offsets,
    counts,
    async add(given: ExportedRow): Promise<void> {
      const next = batchOf(given, tables.columns, rowsRead);
      if (batch === null || !fits(batch, next)) {
        await flush();
        batch = next;
      } else {
        batch.rows.push(...next.rows);
        for (const name of next.names) batch.names.add(name);
      }
      rowsRead++;
      if (rowsRead > firstSingle) await flush();
    },
    /** Returns the new number of an attempt that was loaded, or null if it was skipped. */
    async addedAttempt(number: number): Promise<number | null> {
      await flush();
      const attempt = newNumberOf('attempt', number);
      const found = await tx.get(sql.existingNumbers('attempt'), [attempt]);
      return found === undefined ? null : attempt;
    },
    /** Inserts the last rows. Rows that are added later get higher numbers than all of them. */
    async end(): Promise<void> {
      await flush();
      for (const { name, numbered } of SAVED_TABLES)
        if (numbered && (counts.added[name] ?? 0) > 0) await tx.run(sql.setHighestNumber(name));
    },
  };
}

/** Checks a row, and returns a batch that has only this row. */
function batchOf(
  { table: name, row }: ExportedRow,
  columns: ReadonlyMap<string, LoadedColumn[]>,
  index: number,
): Batch {
  const table = SAVED_TABLES.find((one) => one.name === name);
  if (table === undefined) throw invalidError(`unknown table '${name}'`);
  const known = columns.get(name)!;
  checkColumns(
    table,
    row,
    known.map((column) => column.name),
  );
  return {
    table,
    columns: known.filter((column) => column.name in row),
    rows: [row],
    names: new Set(table.nameColumns.map((column) => row[column])),
    firstRow: index,
  };
}
