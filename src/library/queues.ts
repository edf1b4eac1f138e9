import { actorOf } from '../actions/actor.ts';
import type { App } from '../actions/app.ts';
import { type QueueInput, readQueueInput } from '../actions/queue-input.ts';
import { changeQueue, listQueues, pauseQueues, resumeQueues } from '../actions/queues.ts';
import type { QueueObject } from '../core/wire.ts';

/** Manages named queues. A queue is created by its first use. */
export interface Queues {
  /** Returns all queues by name, with their job counts. */
  list(): Promise<QueueObject[]>;
  /** Pauses a queue. Running jobs continue. */
  pause(name: string, by?: string): Promise<QueueObject>;
  resume(name: string): Promise<QueueObject>;
  /** Sets limits, which apply across all workers at once. */
  set(name: string, limits: QueueInput): Promise<QueueObject>;
}

export function queues(app: App): Queues {
  return {
    list: () => listQueues(app),
    pause: async (name, by = actorOf(process.env)) => (await pauseQueues(app, name, by))[0]!,
    resume: async (name) => (await resumeQueues(app, name))[0]!,
    set: async (name, limits) => changeQueue(app, name, readQueueInput(limits)),
  };
}
