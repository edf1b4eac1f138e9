import type { Store } from '../store.ts';
import { careStore } from './care.ts';
import { claimStore } from './claims.ts';
import type { Connection } from './connection.ts';
import { eventStore } from './events.ts';
import { figureStore } from './figures.ts';
import { insertion } from './insert.ts';
import { jobActionStore } from './job-actions.ts';
import { jobStore } from './jobs.ts';
import { queueStore } from './queues.ts';
import { retentionStore } from './retention.ts';
import { scheduleStore } from './schedules.ts';
import { storeCore } from './store-core.ts';
import { workerStore } from './workers.ts';

export function sqliteStore(db: Connection): Store {
  const { core, forgetEpoch } = storeCore(db);
  return Object.assign(core, {
    insert: insertion(db),
    ...jobStore(db),
    ...jobActionStore(db),
    ...claimStore(db),
    ...workerStore(db),
    ...queueStore(db),
    ...scheduleStore(db),
    ...eventStore(db),
    ...figureStore(db),
    ...retentionStore(db),
    ...careStore(db, forgetEpoch),
    withActor: (actor: string) => sqliteStore({ ...db, actor }),
  });
}
