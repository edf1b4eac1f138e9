export const insertQueue = 'INSERT INTO queue (name) VALUES (?) ON CONFLICT DO NOTHING';
export const queueNumber = 'SELECT number FROM queue WHERE name = ?';
export const queueBounds = 'SELECT number, ready_priority, ready_job, next_due_at FROM queue WHERE name = ?';
export const lowerReadyBound = `UPDATE queue SET ready_priority = ?2, ready_job = ?3 WHERE number = ?1 AND (ready_job IS NULL
  OR ready_priority < ?2 OR ready_priority = ?2 AND ready_job > ?3)`;
export const lowerNextDueAt =
  'UPDATE queue SET next_due_at = ?2 WHERE number = ?1 AND (next_due_at IS NULL OR next_due_at > ?2)';
