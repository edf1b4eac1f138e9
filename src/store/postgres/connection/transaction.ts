import type { Row, Value } from '../../row.ts';
import type { Client } from './client.ts';

/**
 * Runs statements in one transaction. Parameters are `$1`, `$2` and so on. A statement is sent at once, so several that do not
 * need each other's answers cost one round trip: `await Promise.all([tx.run(a), tx.run(b)])`. They run in the order in which
 * they were sent.
 */
export interface Transaction {
  /** Names the user of the store in events. */
  readonly actor: string | null;
  /** Returns the id and the boot of this host. They are empty texts if it has no id yet. */
  host(): readonly [id: string, boot: string];
  /** Returns the path of this host's state directory, or null if it is unknown. */
  directory(): string | null;
  /** Returns the current time, for events. */
  now(): number;
  /** Returns the first row. */
  get<T = Row>(sql: string, ...values: Value[]): Promise<T | undefined>;
  all<T = Row>(sql: string, ...values: Value[]): Promise<T[]>;
  /** Returns the number of rows changed by the statement, without those that its WITH clauses change. */
  run(sql: string, ...values: Value[]): Promise<number>;
  /** Reads rows in batches, because all of them may not fit into memory. */
  each(sql: string, ...values: Value[]): AsyncIterable<Row>;
}

const ROWS_PER_FETCH = 500;
/** At most this many texts are prepared, so that statements with changing conditions do not fill the server's memory. */
const MOST_NAMED = 400;

/** The names of prepared statements, by text. Every connection of the process uses the same ones. */
const names = new Map<string, string>();

function nameOf(sql: string): string | undefined {
  const known = names.get(sql);
  if (known !== undefined || names.size >= MOST_NAMED) return known;
  const name = `q${names.size + 1}`;
  names.set(sql, name);
  return name;
}

/** Replaces NUL characters, which PostgreSQL refuses in texts. Stored texts have none, so a search for one finds nothing. */
function storable(value: Value): unknown {
  if (Array.isArray(value)) return value.map(storable);
  return typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
}

interface Options {
  actor: string | null;
  host(): readonly [id: string, boot: string];
  directory(): string | null;
  now(): number;
  prepared: boolean;
}

export function transactionOn(client: Pick<Client, 'query'>, options: Options): Transaction {
  const { actor, host, directory, now, prepared } = options;
  let cursors = 0;
  const send = (sql: string, values: Value[]) => {
    const name = prepared ? nameOf(sql) : undefined;
    return client.query<Row>({ text: sql, values: values.map(storable), ...(name && { name }) });
  };
  return {
    ...{ actor, host, directory, now },
    async get<T>(sql: string, ...values: Value[]) {
      return (await send(sql, values)).rows[0] as T | undefined;
    },
    async all<T>(sql: string, ...values: Value[]) {
      return (await send(sql, values)).rows as T[];
    },
    async run(sql, ...values) {
      return (await send(sql, values)).rowCount ?? 0;
    },
    async *each(sql, ...values) {
      const cursor = `rows_${++cursors}`;
      await client.query({
        text: `DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`,
        values: values.map(storable),
      });
      for (;;) {
        const { rows } = await client.query<Row>(`FETCH ${ROWS_PER_FETCH} FROM ${cursor}`);
        yield* rows;
        if (rows.length < ROWS_PER_FETCH) break;
      }
      await client.query(`CLOSE ${cursor}`);
    },
  };
}
