import { claimPart } from '../parts/claims.ts';
import { insertion } from '../parts/insert.ts';
import { jobActionPart } from '../parts/job-actions.ts';
import { jobPart } from '../parts/jobs.ts';
import { listPart } from '../parts/lists.ts';
import { queuePart } from '../parts/queues.ts';
import { retentionPart } from '../parts/retention.ts';
import { schedulePart } from '../parts/schedules.ts';
import { transferPart } from '../parts/transfer.ts';
import { workerPart } from '../parts/workers.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { sqliteEngine } from './engine.ts';
import { eventStore } from './events.ts';
import { figureStore } from './figures.ts';
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
    ...eventStore(db),
    ...figureStore(db),
    ...retentionPart(engine),
    ...transferPart(engine, forgetEpoch),
    withActor: (actor: string) => sqliteStore({ ...db, actor }),
  });
}
