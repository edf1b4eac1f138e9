import type { Job, State } from '../core/job.ts';

export interface Page {
  limit: number;
  /** Continue below this `number` of the page before. */
  before?: number;
  /** No further down than above this one. */
  above?: number;
}

export interface ListedJob extends Job {
  /** The store's number of the job: rises with every enqueue. */
  number: number;
}

export interface DeadJob {
  number: number;
  id: string;
  queue: string;
  name: string | null;
  error: string | null;
  /** When it ended. */
  at: number;
}

export interface QueueCount {
  queue: string;
  state: State;
  jobs: number;
}
