import type { Transition } from './decide.ts';
import type { ClaimedJob } from './job.ts';
import type { Outcome } from './outcome.ts';

/** What happens in a worker. Code emits these; observe/ words and counts them. */
export type WorkerEvent =
  | { type: 'worker-ready'; workerId: string; pid: number; concurrency: number; queues: string[] | null }
  | { type: 'worker-draining'; workerId: string; running: number; why: string }
  | { type: 'worker-stopped'; workerId: string; left: string | null }
  | { type: 'worker-error'; workerId: string; message: string }
  | { type: 'jobs-pruned'; workerId: string; jobs: number; bytes: number }
  | { type: 'tick'; schedule: string; at: number; jobId: string | null; waits: boolean }
  | { type: 'attempt-started'; job: ClaimedJob; pid: number }
  | { type: 'attempt-adopted'; job: ClaimedJob }
  | { type: 'attempt-ending'; job: ClaimedJob; reason: string }
  | { type: 'attempt-settled'; job: ClaimedJob; outcome: Outcome; transition: Transition; durationMs: number }
  /** The claim was somebody else's by then: nothing was changed. */
  | { type: 'claim-lost'; job: ClaimedJob };

export type Emit = (event: WorkerEvent) => void;
