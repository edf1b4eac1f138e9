/** Exports the library, which has the same actions as the command line. */

export { type ErrorCode, QueueError } from './core/errors.ts';
export type { EventKind, EventObject } from './core/events.ts';
export type { GoneJob, State, Stream } from './core/job.ts';
export type { JobObject } from './core/job-object.ts';
export type { WaitingReason } from './core/waiting-reason.ts';
export type { AttemptObject, QueueObject, ScheduleObject } from './core/wire.ts';
export type { WorkerEventObject as WorkerEvent } from './core/worker-event-object.ts';
export { openQueue } from './library/queue.ts';
export type {
  ActionResult,
  EnqueueInput,
  EnqueueOptions,
  EventOptions,
  FollowOptions,
  InTransaction,
  ListOptions,
  LogOptions,
  NewSchedule,
  OpenOptions,
  Queue,
  QueueInput,
  Queues,
  QueueWorker,
  Schedules,
  SqlClient,
  StopOptions,
  WaitOptions,
  WorkerStart,
} from './library/types.ts';
