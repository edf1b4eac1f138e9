import type { CareStore, ExportedRow } from '../contract/care.ts';
import { settleAsLost } from '../parts/settle.ts';
import { SAVED_TABLES } from '../tables.ts';
import type { Connection } from './connection.ts';
import { runSteps, sqliteEngine } from './engine.ts';
import { load } from './load.ts';
import * as sql from './sql/care.ts';
import { runningJobs } from './sql/claims.ts';

/** Implements the methods of this part that move the contents of a store. store-core.ts has the others. */
export function careStore(
  db: Connection,
  onRenewed: () => void,
): Pick<CareStore, 'renew' | 'dump' | 'load' | 'loadMark'> {
  return {
    renew: (settleLost) =>
      db.write('renew', () => {
        db.run(sql.keepOrigin);
        db.run(sql.newEpoch);
        db.run(sql.deleteWorkers);
        db.run(sql.deleteSupervisors);
        runSteps(db, settleAsLost(sqliteEngine(db), db.all(runningJobs), settleLost));
        onRenewed();
      }),
    dump: (keep) => db.read(() => dumpRows(db, keep)),
    load: (rows, options) => db.write('load', () => load(db, rows, options)),
    loadMark: () => db.read(() => (db.get(sql.loadMark)?.value as string | undefined) ?? null),
  };
}

/** Passes all rows to `keep`, inside a transaction. */
function dumpRows(db: Connection, keep: (row: ExportedRow) => void): void {
  for (const { name, key, derivedColumns } of SAVED_TABLES) {
    for (const row of db.each(sql.rowsInOrder(name, key, 'ASC'))) {
      const copy = { ...row };
      for (const column of derivedColumns) delete copy[column];
      keep({ table: name, row: copy });
    }
  }
}
