import type { ClaimedJob, Stream } from '../../core/jobs/job.ts';
import type { Store } from '../store.ts';
import type { Settlement } from './claims.ts';

/** Identifies a store, moves its contents and closes it. */
export interface CareStore {
  /** A random name of the store. Every backup and restore gets a new one, so attempt directories of different stores never share a name. */
  readonly epoch: string;
  /** The epoch of the store that this one was copied from, or null. */
  readonly origin: string | null;
  /** Throws if the store can no longer be used: its files were removed or replaced, or its schema is newer now. */
  check(): Promise<void>;
  /** Returns an object for the same store whose events name this actor. The original object keeps its own. */
  withActor(actor: string): Store;
  /**
   * Turns a copy into an independent store, in one transaction: gives it a new epoch, removes its workers, and settles every
   * running job with `settleLost`. No other connection must use the copy.
   */
  renew(settleLost: SettleLost): Promise<void>;
  /**
   * Calls `keep` with every row that makes up the queue, as of one moment, in an order in which `load` accepts them. After the
   * rows of the attempts, calls `keepPart` with the shared output of those that have ended, with a mark in place of each gap.
   */
  dump(keep: (row: ExportedRow) => void, keepPart?: (part: ExportedFilePart) => void): Promise<void>;
  /**
   * Adds dumped rows, all or none. Reads `rows` one by one, and may start again from the first.
   *
   * - Rows get numbers above those in use. In an empty store they keep their numbers.
   * - A job, schedule or other named row that exists is skipped with its own rows, or refused, depending on `onConflict`.
   *   A queue, setting or idempotency key with equal values is no conflict. Jobs of an existing queue are added to it.
   * - Figures are added only to a store that has none.
   * - Jobs that were running are settled with `settleLost`.
   * - An output file comes after the row of its attempt. It is passed to `keepFile` before the commit, unless the attempt
   *   was skipped.
   */
  load(rows: Iterable<ExportedRow | ExportedFilePart>, options: LoadOptions): Promise<LoadCounts>;
  close(): Promise<void>;
}

/** Decides, without I/O, how to settle a job that was running when its store was copied, exported or damaged. */
export type SettleLost = (job: ClaimedJob) => Settlement;

/** A row of the queue: its table and its columns. */
export interface ExportedRow {
  table: string;
  row: Record<string, string | number | bigint | Uint8Array | null>;
}

/** A part of the output file of an attempt. */
export interface ExportedFilePart {
  attempt: number;
  stream: Stream;
  bytes: Uint8Array;
}

export interface LoadOptions {
  onConflict: 'fail' | 'skip';
  settleLost: SettleLost;
  /** Is called for each part of an output file, with the new number of its attempt. */
  keepFile(file: ExportedFilePart): void;
  /** Is called before the commit. If it throws, nothing is loaded. */
  beforeCommit?(counts: LoadCounts): void;
}

/** The numbers of added and skipped rows, by table. */
export interface LoadCounts {
  added: Record<string, number>;
  skipped: Record<string, number>;
}
