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
import { addLazyPart } from './lazy-part.ts';
import { storeCore } from './store-core.ts';

/**
 * Returns a store for a command that ends soon. It loads at once only what `enqueue` uses. Each other part is loaded when one of
 * its methods is called first, so such a call starts its work a moment later than in the store of store.ts.
 */
export function onDemandStore(db: Connection): Store {
  const { core: store, forgetEpoch } = storeCore(db);
  addLazyPart(store, JOBS, async () => (await import('./jobs.ts')).jobStore(db));
  addLazyPart(store, JOB_ACTIONS, async () => (await import('./job-actions.ts')).jobActionStore(db));
  addLazyPart(store, CLAIMS, async () => (await import('./claims.ts')).claimStore(db));
  addLazyPart(store, WORKERS, async () => (await import('./workers.ts')).workerStore(db));
  addLazyPart(store, QUEUES, async () => (await import('./queues.ts')).queueStore(db));
  addLazyPart(store, SCHEDULES, async () => (await import('./schedules.ts')).scheduleStore(db));
  addLazyPart(store, EVENTS, async () => (await import('./events.ts')).eventStore(db));
  addLazyPart(store, FIGURES, async () => (await import('./figures.ts')).figureStore(db));
  addLazyPart(store, RETENTION, async () => (await import('./retention.ts')).retentionStore(db));
  addLazyPart(store, CARE, async () => (await import('./care.ts')).careStore(db, forgetEpoch));
  return Object.assign(store, { withActor: (actor: string) => onDemandStore({ ...db, actor }) });
}

type Names<T> = Record<keyof T, true>;

const JOBS: Names<Omit<JobStore, 'insert' | 'insertOn'>> = {
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
};
const JOB_ACTIONS: Names<JobActionStore> = {
  retry: true,
  keyHolder: true,
  remove: true,
  cancel: true,
  wishSignal: true,
  hold: true,
  release: true,
  edit: true,
};
const CLAIMS: Names<Omit<ClaimStore, 'batching'>> = {
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
};
const WORKERS: Names<Omit<WorkerStore, 'manyHosts'>> = {
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
};
const QUEUES: Names<Omit<QueueStore, 'settings'>> = {
  queues: true,
  limitedQueues: true,
  setQueue: true,
  removeQueue: true,
  set: true,
};
const SCHEDULES: Names<ScheduleStore> = {
  addSchedule: true,
  schedules: true,
  editSchedule: true,
  removeSchedule: true,
  pauseSchedule: true,
  dueSchedules: true,
  fire: true,
  fireNow: true,
};
const EVENTS: Names<EventStore> = {
  events: true,
  eventsOfJob: true,
  lastEventNumber: true,
  lastEventNumberBefore: true,
  note: true,
  pruneEvents: true,
  prunableEvents: true,
};
const FIGURES: Names<FigureStore> = {
  series: true,
  breakdown: true,
  totals: true,
  oldestWaiting: true,
  sampleWaiting: true,
  walBytes: true,
  forgetRollups: true,
  finishedAttempts: true,
  lastEnded: true,
};
const RETENTION: Names<RetentionStore> = { prune: true, prunable: true, forgetKeys: true };
const CARE: Names<Omit<CareStore, 'epoch' | 'origin' | 'withActor' | 'check' | 'close'>> = {
  renew: true,
  dump: true,
  load: true,
  loadMark: true,
};
