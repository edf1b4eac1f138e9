/** Exports the library, which has the same actions as the command line. */

export { type ErrorCode, QueueError } from './core/errors.ts';
export type { GoneJob, State, Stream } from './core/jobs/job.ts';
export type { JobObject } from './core/jobs/job-object.ts';
export type { WaitingReason } from './core/jobs/waiting-reason.ts';
export type { EventKind, EventObject, WorkerEventObject as WorkerEvent } from './core/rules/events.ts';
export type { AttemptObject, QueueObject, ScheduleObject } from './core/wire/wire.ts';
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
