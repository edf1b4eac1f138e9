import type { Batching } from '../contract/claims.ts';
import { claimPart } from '../parts/claims.ts';
import { eventPart } from '../parts/events.ts';
import { figurePart } from '../parts/figures.ts';
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
import type { ServerConnection } from './connection/connection.ts';
import { postgresEngine } from './engine.ts';
import { checkStore, readIdentity } from './identity.ts';
import { insertionOn } from './insert-on.ts';
import { sharedOutput } from './shared-output.ts';

/** Most of the time of a transaction passes before its statements read the first job, and with the commit. */
const BATCHING: Batching = {
  aheadPerSlot: 4,
  aheadMs: 100,
  mostAhead: Number.POSITIVE_INFINITY,
  gatherMs: 40,
  reservePerSlot: 1,
};

export function postgresStore(db: ServerConnection, close: () => Promise<void>): Store {
  const engine = postgresEngine(db);
  return {
    ...jobPart(engine),
    insert: insertion(engine),
    insertOn: insertionOn(db, engine),
    ...listPart(engine),
    ...jobActionPart(engine),
    batching: BATCHING,
    ...claimPart(engine),
    manyHosts: true,
    ...workerPart(engine),
    ...queuePart(engine),
    ...schedulePart(engine),
    ...eventPart(engine),
    ...figurePart(engine),
    walBytes: async () => null,
    ...retentionPart(engine),
    ...transferPart(engine, () => readIdentity(db)),
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
