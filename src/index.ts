/** Exports the library, which has the same actions as the command line. */

export { QueueError } from './core/errors.ts';
export type { EventObject } from './core/event-object.ts';
export type { GoneJob } from './core/job.ts';
export type { JobObject } from './core/job-object.ts';
export type { WaitingReason } from './core/waiting-reason.ts';
export type { ActedOn } from './library/acting.ts';
export {
  type EnqueueInput,
  type EnqueueOptions,
  type ListOptions,
  openQueue,
  type Queue,
  type QueueWorker,
  type WorkerStart,
} from './library/queue.ts';
export type { Queues } from './library/queues.ts';
export type { NewSchedule, Schedules } from './library/schedules.ts';
