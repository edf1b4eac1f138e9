import type { CareStore } from '../contract/care.ts';
import type { Connection } from './connection.ts';
import { load } from './load.ts';
import { readSupportedVersion } from './migrate.ts';
import { toClaimedJob } from './rows.ts';
import { settle } from './settle.ts';
import * as sql from './sql/care.ts';
import { runningJobs } from './sql/claims.ts';
import { SAVED_TABLES } from './tables.ts';

/** Implements CareStore except `epoch`, `origin` and `withActor`, which store.ts adds. */
export function careStore(
  db: Connection,
  onRenewed: () => void,
): Omit<CareStore, 'epoch' | 'origin' | 'withActor'> {
  return {
    async check() {
      db.checkFile();
      await db.read(() => readSupportedVersion(db));
    },
    renew: (settleLost) =>
      db.write('renew', () => {
        db.run(sql.keepOrigin);
        db.run(sql.newEpoch);
        db.run(sql.deleteWorkers);
        db.run(sql.deleteSupervisors);
        for (const row of db.all(runningJobs)) settle(db, settleLost(toClaimedJob(row)));
        onRenewed();
      }),
    dump: (keep) =>
      db.read(() => {
        for (const { name, key } of SAVED_TABLES) {
          for (const row of db.each(sql.rowsInOrder(name, key, 'ASC')))
            keep({ table: name, row: { ...row } });
        }
      }),
    load: (rows, options) => db.write('load', () => load(db, rows, options)),
    async close() {
      db.close();
    },
  };
}
