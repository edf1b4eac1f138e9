import type { App } from '../actions/app.ts';
import { QueueError } from '../core/errors.ts';

/** An open queue, as the parts of the library share it. */
export interface OpenQueue {
  /** Returns the app. Throws if the queue is closed or being closed. */
  app(): App;
  /** The author of changes, who is named in events and pauses. */
  actor: string;
  /** Is aborted when the queue begins to close. */
  closing: AbortSignal;
  /** Is aborted when the workers have stopped, before the store is closed. */
  closed: AbortSignal;
  /** Keeps the store open until the work has ended, even if the queue is closed meanwhile. */
  holdOpen<T>(work: Promise<T>): Promise<T>;
}

export function closedError(): QueueError {
  return new QueueError('wrong-state', 'the queue is closed', 'open it again with openQueue()');
}

/** Returns a signal that is aborted as soon as one of the two is aborted. */
export function eitherSignal(queueSignal: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given === undefined ? queueSignal : AbortSignal.any([queueSignal, given]);
}
