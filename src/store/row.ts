/** A value that a store can bind in a statement. */
export type SqlValue = string | number | bigint | Uint8Array | null;

/** A value of a statement: one value, or an array for `= ANY($1)` and the like. */
export type Value = SqlValue | readonly SqlValue[];

/** A row as a statement returns it. Truth values are 1 and 0. */
export type Row = Record<string, SqlValue>;
