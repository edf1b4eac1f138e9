import { statSync } from 'node:fs';
import { claimPart } from '../parts/claims.ts';
import { eventPart } from '../parts/events.ts';
import { figurePart } from '../parts/figures.ts';
import { insertion } from '../parts/insert.ts';
import { jobActionPart } from '../parts/job-actions.ts';
import { jobPart } from '../parts/jobs.ts';
import { listPart } from '../parts/lists.ts';
import { foldAfterWrites } from '../parts/log.ts';
import { queuePart } from '../parts/queues.ts';
import { retentionPart } from '../parts/retention.ts';
import { schedulePart } from '../parts/schedules.ts';
import { transferPart } from '../parts/transfer.ts';
import { workerPart } from '../parts/workers.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { sqliteEngine } from './engine.ts';
import { storeCore } from './on-demand-store.ts';

export function sqliteStore(db: Connection, { core, forgetEpoch } = storeCore(db)): Store {
  const engine = sqliteEngine(db);
  return Object.assign(core, {
    insert: insertion(engine),
    ...jobPart(engine),
    ...listPart(engine),
    ...jobActionPart(engine),
    ...claimPart(engine),
    ...workerPart(engine),
    ...queuePart(engine),
    ...schedulePart(engine),
    ...eventPart(engine),
    ...figurePart(engine),
    // The file is not opened, because closing it would drop SQLite's locks.
    walBytes: async () => statSync(`${db.path}-wal`, { throwIfNoEntry: false })?.size ?? 0,
    ...retentionPart(engine),
    ...transferPart(engine, forgetEpoch),
    withActor: (actor: string) => sqliteStore({ ...db, actor }),
  });
}

/** How long a process waits after a write before it folds the log. Every fold costs a commit, and readers number what is left. */
const FOLD_AFTER_MS = 2000;

/** Returns a store that also folds the log after its writes, until it is closed. */
export function foldingStore(db: Connection): Store {
  const stopFolding = foldAfterWrites(sqliteEngine(db), db.onWritten, FOLD_AFTER_MS);
  return sqliteStore({
    ...db,
    close() {
      stopFolding();
      db.close();
    },
  });
}
