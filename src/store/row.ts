/** A value that a store can bind in a statement. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A row as a statement returns it. Truth values are 1 and 0. */
export type Row = Record<string, SqlValue>;
