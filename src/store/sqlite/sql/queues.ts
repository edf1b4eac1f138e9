export const insertQueue = 'INSERT INTO queue (name) VALUES (?) ON CONFLICT DO NOTHING';
export const queueNumber = 'SELECT number FROM queue WHERE name = ?';
export const queueBounds = 'SELECT number, ready_priority, ready_job, next_due_at FROM queue WHERE name = ?';
export const lowerReadyBound = `UPDATE queue SET ready_priority = ?2, ready_job = ?3 WHERE number = ?1 AND (ready_job IS NULL
  OR ready_priority < ?2 OR ready_priority = ?2 AND ready_job > ?3)`;
export const lowerNextDueAt =
  'UPDATE queue SET next_due_at = ?2 WHERE number = ?1 AND (next_due_at IS NULL OR next_due_at > ?2)';
const SELECT_QUEUE = `SELECT name, paused_at AS pausedAt, paused_by AS pausedBy, concurrency, rate, rate_ms, tokens,
  tokens_at, aging_ms AS agingMs FROM queue`;
export const queues = `${SELECT_QUEUE} ORDER BY name`;
export const limitedQueues = `${SELECT_QUEUE} WHERE paused_at IS NOT NULL OR concurrency IS NOT NULL OR rate IS NOT NULL ORDER BY name`;
export const queueByName = `${SELECT_QUEUE} WHERE name = ?`;
export const anyJobOfQueue = 'SELECT 1 FROM job WHERE queue = ? LIMIT 1';
/** This statement runs rarely, so there is no index for it. */
export const deleteRollups =
  'DELETE FROM rollup WHERE kind IN (SELECT number FROM rollup_kind WHERE queue = ?)';
export const deleteKinds = 'DELETE FROM rollup_kind WHERE queue = ?';
export const deleteQueue = `DELETE FROM queue WHERE number = ?
  AND NOT EXISTS (SELECT 1 FROM job WHERE job.queue = queue.number)`;
/** Writes the queue's name into its events, because its number may be reused. */
export const writeNameIntoEvents = `UPDATE event SET queue = NULL, detail = json_set(coalesce(detail, '{}'), '$.queue', ?)
  WHERE queue = ?`;
export const deleteCounters = 'DELETE FROM counter WHERE queue = ?';
export const setPause = 'UPDATE queue SET paused_at = ?, paused_by = ? WHERE number = ?';
export const setConcurrency = 'UPDATE queue SET concurrency = ? WHERE number = ?';
export const setRate =
  'UPDATE queue SET rate = ?, rate_ms = ?, tokens = NULL, tokens_at = NULL WHERE number = ?';
export const setAging = 'UPDATE queue SET aging_ms = ? WHERE number = ?';
export const settings = 'SELECT key, value FROM setting';
export const putSetting =
  'INSERT INTO setting (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value';
export const dropSetting = 'DELETE FROM setting WHERE key = ?';
