import type { ClaimedJob, Stream } from '../../core/job.ts';
import type { Store } from '../store.ts';
import type { Settlement } from './claims.ts';

/** Identifies a store, moves its contents and closes it. */
export interface CareStore {
  /** A random name of the store. Every backup and restore gets a new one, so attempts of different stores never share a name. */
  readonly epoch: string;
  /** The epoch of the store that this one was copied from, or null. */
  readonly origin: string | null;
  /** Throws if the store can no longer be used: its files were removed or replaced, or its schema is newer now. */
  check(): Promise<void>;
  /** Returns an object for the same store whose events name this actor. The original object keeps its own. */
  withActor(actor: string): Store;
  /**
   * Turns a copy into an independent store, in one transaction: with a new epoch, without workers, and with every running job settled
   * by `settleLost`. Nobody else may be using the store.
   */
  renew(settleLost: SettleLost): Promise<void>;
  /** Calls `keep` with every row that makes up the queue, as of one moment, in an order in which `load` accepts them. */
  dump(keep: (row: ExportedRow) => void): Promise<void>;
  /**
   * Adds dumped rows, all or none. Reads `rows` one by one, perhaps more than once from the start.
   *
   * - Rows get numbers above those in use. In an empty store they keep their numbers.
   * - A row whose name exists is skipped with the rows that belong to it, or refused, as `onConflict` says.
   * - Figures are added only to a store that has none.
   * - An output file comes after the row of its attempt. It is passed to `keepFile` with the new number of that attempt, before
   *   the commit, unless the attempt was skipped.
   * - Jobs that were running are settled by `settleLost`.
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
}

/** The numbers of added and skipped rows, by table. */
export interface LoadCounts {
  added: Record<string, number>;
  skipped: Record<string, number>;
}
