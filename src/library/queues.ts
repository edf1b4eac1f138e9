import { actorOf } from '../actions/actor.ts';
import type { App } from '../actions/app.ts';
import { type QueueInput, readQueueInput } from '../actions/queue-input.ts';
import { changeQueue, listQueues, type QueueObject, resumeQueue } from '../actions/queues.ts';

/** Named queues; they come into being by use, or by being set. */
export interface Queues {
  /** By name, with their jobs by state. */
  list(): Promise<QueueObject[]>;
  /** Starts no more of its jobs; what runs goes on. */
  pause(name: string, by?: string): Promise<QueueObject>;
  resume(name: string): Promise<QueueObject>;
  /** Over all workers and at once. */
  set(name: string, limits: QueueInput): Promise<QueueObject>;
}

export function queues(app: App): Queues {
  return {
    list: () => listQueues(app),
    pause: (name, by = actorOf(process.env)) =>
      changeQueue(app, name, { paused: { at: app.clock.now(), by } }),
    resume: (name) => resumeQueue(app, name),
    set: async (name, limits) => changeQueue(app, name, readQueueInput(limits)),
  };
}
