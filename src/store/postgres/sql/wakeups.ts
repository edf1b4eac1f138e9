/** A wake-up is sent at most once in this time. Otherwise many enqueues would wait for each other to notify. */
export const WAKE_EVERY_MS = 25;
/**
 * A change is sent only if no signal was sent for this time. This is longer, so that at most 50 signals of both kinds are sent
 * in a second.
 */
export const CHANGE_EVERY_MS = 40;

/** Returns the channel of a store. The id of a store stays the same, so the name is valid as long as the store is. */
export const channelOf = (store: string): string => `queuectl_${store}`;

const isOver = (column: string, ms: number): string =>
  `${column} NOT BETWEEN clock_timestamp() - interval '${ms} ms' AND clock_timestamp()`;

/**
 * Sends a signal, unless one was sent a moment ago or is being sent. The row is missing after a crash of the server, which
 * empties unlogged tables. No search path is set, because this is not in a transaction.
 */
const send = (schema: string, kind: string, condition: string, times: string): string => `
  WITH free AS MATERIALIZED (SELECT one FROM ${schema}.signal WHERE ${condition} FOR UPDATE SKIP LOCKED),
    renewed AS (UPDATE ${schema}.signal SET ${times} FROM free WHERE signal.one = free.one RETURNING 1),
    created AS (INSERT INTO ${schema}.signal SELECT 1, clock_timestamp(), clock_timestamp()
      WHERE NOT EXISTS (SELECT 1 FROM ${schema}.signal) ON CONFLICT DO NOTHING RETURNING 1)
  SELECT pg_notify($1, '${kind}') FROM (SELECT * FROM renewed UNION ALL SELECT * FROM created) AS sent`;

/** Sends a wake-up in the transaction of somebody else. The row of signals is left alone, because it would stay locked until the commit. */
export const sendWakeAtCommit = "SELECT pg_notify($1, 'wake')";
export const sendWake = (schema: string): string =>
  send(
    schema,
    'wake',
    isOver('wake_at', WAKE_EVERY_MS),
    'wake_at = clock_timestamp(), change_at = clock_timestamp()',
  );
export const sendChange = (schema: string): string =>
  send(schema, 'change', isOver('change_at', CHANGE_EVERY_MS), 'change_at = clock_timestamp()');
