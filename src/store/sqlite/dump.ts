import type { ExportedRow } from '../contract/care.ts';
import { SAVED_TABLES } from '../tables.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/care.ts';

/** Passes all rows to `keep`, inside a transaction. */
export function dumpRows(db: Connection, keep: (row: ExportedRow) => void): void {
  for (const { name, key, derivedColumns } of SAVED_TABLES) {
    for (const row of db.each(sql.rowsInOrder(name, key, 'ASC'))) {
      const copy = { ...row };
      for (const column of derivedColumns) delete copy[column];
      keep({ table: name, row: copy });
    }
  }
}
