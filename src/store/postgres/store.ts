import type { Store } from '../store.ts';
import { careStore } from './care.ts';
import { claimStore } from './claims.ts';
import type { Connection } from './connection.ts';
import { eventStore } from './events.ts';
import { figureStore } from './figures.ts';
import { checkStore } from './identity.ts';
import { jobActionStore } from './job-actions.ts';
import { jobStore } from './jobs.ts';
import { queueStore } from './queues.ts';
import { retentionStore } from './retention.ts';
import { scheduleStore } from './schedules.ts';
import { sharedOutput } from './shared-output.ts';
import { workerStore } from './workers.ts';

export function postgresStore(db: Connection, close: () => Promise<void>): Store {
  return {
    ...jobStore(db),
    ...jobActionStore(db),
    ...claimStore(db),
    ...workerStore(db),
    ...queueStore(db),
    ...scheduleStore(db),
    ...eventStore(db),
    ...figureStore(db),
    ...retentionStore(db),
    ...careStore(db),
    sharedOutput: sharedOutput(db),
    get epoch() {
      return db.identity.epoch;
    },
    get origin() {
      return db.identity.origin;
    },
    check: () => checkStore(db),
    withActor: (actor) => postgresStore({ ...db, actor }, close),
    close,
  };
}
