export const settings = 'SELECT key, value FROM setting';
/** Two settings that are changed at once must not both be checked against the old value of the other. */
export const lockSettings = 'LOCK TABLE setting IN SHARE ROW EXCLUSIVE MODE';
export const putSetting =
  'INSERT INTO setting (key, value) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value';
export const dropSetting = 'DELETE FROM setting WHERE key = $1';

/** Returns the numbers of the queues with these names that exist. */
export const queueNumbers = 'SELECT number, name FROM queue WHERE name = ANY($1)';
/** Waits for a transaction that is creating or removing a queue with one of these names. */
export const insertQueues = `INSERT INTO queue (name) SELECT name FROM unnest($1::text[]) AS given (name) ORDER BY name
  ON CONFLICT DO NOTHING RETURNING number, name`;
const SELECT_QUEUE = `SELECT number, name, paused_at AS "pausedAt", paused_by AS "pausedBy", concurrency, rate, rate_ms, tokens,
  tokens_at, aging_ms AS "agingMs" FROM queue`;
export const queues = `${SELECT_QUEUE} ORDER BY name`;
export const limitedQueues = `${SELECT_QUEUE} WHERE paused_at IS NOT NULL OR concurrency IS NOT NULL OR rate IS NOT NULL ORDER BY name`;
/** Locks a queue against other changes. Jobs can still be added to it. */
export const lockQueue = `${SELECT_QUEUE} WHERE name = $1 FOR NO KEY UPDATE`;
/** Locks a queue before it is removed. Waits for transactions that add jobs to it. */
export const lockQueueToRemove = 'SELECT number FROM queue WHERE name = $1 FOR UPDATE';
export const anyJobOfQueue = 'SELECT 1 FROM job WHERE queue = $1 LIMIT 1';
export const deleteRollups =
  'DELETE FROM rollup WHERE kind IN (SELECT number FROM rollup_kind WHERE queue = $1)';
export const deleteKinds = 'DELETE FROM rollup_kind WHERE queue = $1';
export const deleteQueue = 'DELETE FROM queue WHERE number = $1';
/** Writes the queue's name into its events. */
export const writeNameIntoEvents = `UPDATE event SET queue = NULL,
  detail = (coalesce(detail, '{}')::jsonb || jsonb_build_object('queue', $1::text))::text WHERE queue = $2`;
export const deleteCounters = 'DELETE FROM counter WHERE queue = $1';
export const setPause = 'UPDATE queue SET paused_at = $1, paused_by = $2 WHERE number = $3';
export const setConcurrency = 'UPDATE queue SET concurrency = $1 WHERE number = $2';
export const setRate =
  'UPDATE queue SET rate = $1, rate_ms = $2, tokens = NULL, tokens_at = NULL WHERE number = $3';
export const setAging = 'UPDATE queue SET aging_ms = $1 WHERE number = $2';
