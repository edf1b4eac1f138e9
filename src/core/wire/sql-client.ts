/** A connection of the caller's own to PostgreSQL: a `Client` or `PoolClient` of the package `pg`. */
export interface SqlClient {
  query(query: { text: string; values?: unknown[]; types?: SqlTypes }): Promise<SqlResult>;
}

/** Says how to read the values of a result. */
export interface SqlTypes {
  // biome-ignore lint/suspicious/noExplicitAny: The types of the package `pg` differ from version to version.
  getTypeParser: any;
}

export interface SqlResult {
  // biome-ignore lint/suspicious/noExplicitAny: The rows are read by the code that knows their columns.
  rows: any[];
  rowCount: number | null;
}
