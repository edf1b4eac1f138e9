/** What travels from one store to another. */

/** A row of the queue: what it is of, and its columns. */
export interface ExportedRow {
  table: string;
  row: Record<string, string | number | bigint | Uint8Array | null>;
}

export interface LoadOptions {
  onConflict: 'fail' | 'skip';
}

export interface Loading {
  /** The number here of an attempt that has just been loaded, by the one it had there; null: it was skipped. */
  attempt(number: number): number | null;
}

/** Rows by table. */
export interface Loaded {
  added: Record<string, number>;
  skipped: Record<string, number>;
}
