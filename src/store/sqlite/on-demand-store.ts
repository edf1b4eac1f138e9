import type { CareStore } from '../contract/care.ts';
import type { ClaimStore } from '../contract/claims.ts';
import type { EventStore } from '../contract/events.ts';
import type { FigureStore } from '../contract/figures.ts';
import type { JobActionStore } from '../contract/job-actions.ts';
import type { JobStore } from '../contract/jobs.ts';
import type { QueueStore } from '../contract/queues.ts';
import type { RetentionStore } from '../contract/retention.ts';
import type { ScheduleStore } from '../contract/schedules.ts';
import type { WorkerStore } from '../contract/workers.ts';
import type { Store } from '../store.ts';
import type { Connection } from './connection.ts';
import { insertionOnDemand } from './insert-one.ts';
import { type LazyPart, lazyPart } from './lazy-part.ts';
import { storeCore } from './store-core.ts';

/**
 * Returns a store for a command that ends soon. It loads at once only what `enqueue` uses. Each other part is loaded when one of
 * its methods is called first, so such a call starts its work a moment later than in the store of store.ts. The methods
 * themselves are made when they are asked for, because making all of them would take `enqueue` a tenth of a millisecond.
 */
export function onDemandStore(db: Connection): Store {
  const { core, forgetEpoch } = storeCore(db);
  const store = Object.assign(core, {
    insert: insertionOnDemand(db),
    withActor: (actor: string) => onDemandStore({ ...db, actor }),
  });
  let parts: LazyPart[] | null = null;
  return new Proxy(store as Store, {
    get(target, name) {
      if (name in target) return target[name as keyof Store];
      parts ??= lazyParts(db, forgetEpoch);
      for (const part of parts) {
        const method = part.method(name);
        if (method !== null) return method;
      }
      return undefined;
    },
  });
}

type Names<T> = Record<keyof T, true>;

/** Returns the parts of the store that `enqueue` does not use. */
function lazyParts(db: Connection, forgetEpoch: () => void): LazyPart[] {
  return [
    lazyPart(jobsNames(), async () => (await import('./jobs.ts')).jobStore(db)),
    lazyPart(jobActionsNames(), async () => (await import('./job-actions.ts')).jobActionStore(db)),
    lazyPart(claimsNames(), async () => (await import('./claims.ts')).claimStore(db)),
    lazyPart(workersNames(), async () => (await import('./workers.ts')).workerStore(db)),
    lazyPart(queuesNames(), async () => (await import('./queues.ts')).queueStore(db)),
    lazyPart(schedulesNames(), async () => (await import('./schedules.ts')).scheduleStore(db)),
    lazyPart(eventsNames(), async () => (await import('./events.ts')).eventStore(db)),
    lazyPart(figuresNames(), async () => (await import('./figures.ts')).figureStore(db)),
    lazyPart(retentionNames(), async () => (await import('./retention.ts')).retentionStore(db)),
    lazyPart(careNames(), async () => (await import('./care.ts')).careStore(db, forgetEpoch)),
  ];
}

/* The names are in functions, because making the objects would take `enqueue` time. */
const jobsNames = (): Names<Omit<JobStore, 'insert' | 'insertOn'>> => ({
  get: true,
  idsStartingWith: true,
  list: true,
  deadJobs: true,
  scanEnd: true,
  count: true,
  counts: true,
  stateCounts: true,
  setAsideCounts: true,
  placedCounts: true,
  attempts: true,
  dependencies: true,
  children: true,
  countChildren: true,
  cancelledWith: true,
  cancelledDueTo: true,
  stdin: true,
  output: true,
  needsPlace: true,
});
const jobActionsNames = (): Names<JobActionStore> => ({
  retry: true,
  keyHolder: true,
  remove: true,
  cancel: true,
  wishSignal: true,
  hold: true,
  release: true,
  edit: true,
});
const claimsNames = (): Names<Omit<ClaimStore, 'batching'>> => ({
  claim: true,
  mine: true,
  agenda: true,
  busyQueues: true,
  settle: true,
  mark: true,
  adopt: true,
  runningJobs: true,
  wishes: true,
  signalSent: true,
  seal: true,
  storeSeal: true,
});
const workersNames = (): Names<Omit<WorkerStore, 'manyHosts'>> => ({
  register: true,
  beat: true,
  unregister: true,
  handOver: true,
  hosts: true,
  workers: true,
  registerSupervisor: true,
  unregisterSupervisor: true,
  supervisors: true,
  order: true,
  orderAll: true,
});
const queuesNames = (): Names<Omit<QueueStore, 'settings'>> => ({
  queues: true,
  limitedQueues: true,
  setQueue: true,
  removeQueue: true,
  set: true,
});
const schedulesNames = (): Names<ScheduleStore> => ({
  addSchedule: true,
  schedules: true,
  editSchedule: true,
  removeSchedule: true,
  pauseSchedule: true,
  dueSchedules: true,
  fire: true,
  fireNow: true,
});
const eventsNames = (): Names<EventStore> => ({
  events: true,
  eventsOfJob: true,
  lastEventNumber: true,
  lastEventNumberBefore: true,
  note: true,
  pruneEvents: true,
  prunableEvents: true,
});
const figuresNames = (): Names<FigureStore> => ({
  series: true,
  breakdown: true,
  totals: true,
  oldestWaiting: true,
  sampleWaiting: true,
  walBytes: true,
  forgetRollups: true,
  finishedAttempts: true,
  lastEnded: true,
});
const retentionNames = (): Names<RetentionStore> => ({ prune: true, prunable: true, forgetKeys: true });
const careNames = (): Names<Omit<CareStore, 'epoch' | 'origin' | 'withActor' | 'check' | 'close'>> => ({
  renew: true,
  dump: true,
  load: true,
  loadMark: true,
});
