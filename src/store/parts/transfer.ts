import { randomBytes } from 'node:crypto';
import type { CareStore, ExportedFilePart, ExportedRow } from '../contract/care.ts';
import { all, type Engine, run, type Steps, statementsOf } from '../steps.ts';
import { SAVED_TABLES } from '../tables.ts';
import { callerFunction, withCallerErrors } from './caller-error.ts';
import { foldLog, numberedEvents } from './log.ts';
import { settleAsLost } from './settle.ts';

export const transferStatements = statementsOf(({ selectJob }) => ({
  keepOrigin: `INSERT INTO meta SELECT 'origin', value FROM meta WHERE key = 'epoch'
    ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
  setEpoch: "UPDATE meta SET value = $1 WHERE key = 'epoch'",
  /** The plus signs keep the engine from reading all jobs in the order of their numbers. */
  runningAbove: `${selectJob} WHERE phase = 'running' AND +job.number > $1 ORDER BY +job.number`,
}));

/** Returns a new epoch or store id. */
export const randomName = (): string => randomBytes(6).toString('hex');

/** Moves the contents of a store. The engine has the other methods of `CareStore`. `onRenewed` makes the epoch be read again. */
export function transferPart(
  db: Engine,
  onRenewed: () => unknown,
): Pick<CareStore, 'renew' | 'dump' | 'load'> {
  const sql = transferStatements(db.dialect);
  return {
    async renew(settleLost) {
      await db.write('renew', function* (): Steps<void> {
        yield* run(sql.keepOrigin);
        yield* run(sql.setEpoch, randomName());
        yield* run('DELETE FROM worker');
        yield* run('DELETE FROM supervisor');
        // Their processes belong to the other store.
        yield* settleAsLost(db, yield* all(sql.runningAbove, 0), settleLost);
      });
      await onRenewed();
    },
    async dump(keep, keepPart = () => {}) {
      // Figures are exported only after a fold, because it adds them to packed counts.
      await foldLog(db);
      await withCallerErrors(db.readAll(() => dump(db, callerFunction(keep), callerFunction(keepPart))));
    },
    // This part is loaded on first use, because only two commands need it.
    load: async (rows, options) => (await import('./load.ts')).load(db, rows, options),
  };
}

function* dump(
  db: Engine,
  keep: (row: ExportedRow) => void,
  keepPart: (part: ExportedFilePart) => void,
): Steps<void> {
  for (const { name, key, ownColumns } of SAVED_TABLES) {
    const keepRow = (row: ExportedRow['row']): void => {
      const copy = { ...row };
      for (const column of ownColumns) delete copy[column];
      keep({ table: name, row: copy });
    };
    yield* db.each(`SELECT * FROM ${name} ORDER BY ${key.join(', ')}`, keepRow);
    if (name === 'event') yield* db.each(`${numberedEvents('true')} ORDER BY seq`, keepRow);
    if (name === 'attempt') yield* db.eachSharedPart(keepPart);
  }
}
