import type { Outcome } from '../core/outcome.ts';

export interface AttemptOutput {
  /** What the command wrote in all. */
  bytes: number;
  /** Something between head and tail was dropped. */
  truncated: boolean;
  /** Short output, kept in the store; null: in the attempt's file. */
  kept: Uint8Array | null;
  /** Of split output `kept` is what went to stdout, and this what went to stderr. */
  keptStderr?: Uint8Array | null;
  /** What is left of it, where something was dropped. */
  stored?: number;
}

export interface Attempt {
  /** The store's number, never reused. */
  number: number;
  ordinal: number;
  workerId: string;
  startedAt: number;
  finishedAt: number | null;
  durationMs: number | null;
  why: Outcome['why'] | null;
  exitCode: number | null;
  error: string | null;
  outputBytes: number;
  truncated: boolean;
  leftBehind: number[];
}

export interface FinishedAttempt {
  waitMs: number;
  runMs: number;
  finishedAt: number;
  /** It exited with 0. */
  ok: boolean;
}
