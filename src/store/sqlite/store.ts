import type { Store } from '../store.ts';
import { careStore } from './care.ts';
import { claimStore } from './claims.ts';
import type { Connection } from './connection.ts';
import { epochReader } from './epoch.ts';
import { eventStore } from './events.ts';
import { figureStore } from './figures.ts';
import { jobActionStore } from './job-actions.ts';
import { jobStore } from './jobs.ts';
import { queueStore } from './queues.ts';
import { retentionStore } from './retention.ts';
import { scheduleStore } from './schedules.ts';
import { workerStore } from './workers.ts';

export function sqliteStore(db: Connection): Store {
  const { epoch, origin, forgetEpoch } = epochReader(db);
  return {
    // These two are read only when they are used, because a file of another version may lack them.
    get epoch() {
      return epoch();
    },
    get origin() {
      return origin();
    },
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
    withActor: (actor) => sqliteStore({ ...db, actor }),
  };
}
