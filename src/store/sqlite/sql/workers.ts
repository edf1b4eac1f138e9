export const deleteLastAttempt = "DELETE FROM sqlite_sequence WHERE name = 'attempt'";
export const setLastAttempt = "INSERT INTO sqlite_sequence (name, seq) VALUES ('attempt', ?)";
export const insertWorker = `INSERT INTO worker (id, supervisor, pid, start_time, host, boot, pid_namespace, hostname,
  concurrency, queues, started_at, last_heartbeat, lease_until, stop_order) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
  coalesce((SELECT stop_order FROM supervisor WHERE id = ?), 0)) ON CONFLICT DO NOTHING`; // fault-control: insert-worker
export const beatWorker =
  'UPDATE worker SET beat = beat + 1, last_heartbeat = ?, lease_until = ?, draining = ? WHERE id = ?';
export const stopOrder = 'SELECT stop_order FROM worker WHERE id = ?';
export const deleteWorker = `DELETE FROM worker WHERE id = ?
  AND NOT EXISTS (SELECT 1 FROM job WHERE phase = 'running' AND worker_id = worker.id)`;
export const deleteWithHeir = `DELETE FROM worker WHERE id = ? AND EXISTS (SELECT 1 FROM worker AS heir
  WHERE heir.id IN (SELECT value FROM json_each(?)) AND heir.id <> worker.id AND heir.draining = 0 AND heir.stop_order = 0)`; // fault-control: running-heir
const SELECT_PROCESS = `SELECT id, pid, start_time AS startTime, host, boot, pid_namespace AS pidNamespace,
  stop_order AS stopOrder`;
export const workers = `${SELECT_PROCESS}, supervisor, hostname, concurrency, queues, started_at AS startedAt,
  last_heartbeat AS lastHeartbeat, lease_until > ? AS hasLease, beat, draining, (SELECT json_group_array(job.id) FROM job
    WHERE phase = 'running' AND job.worker_id = worker.id) AS currentJobs FROM worker ORDER BY started_at, id`;
export const hosts = `SELECT host AS id, boot, hostname AS name, max(lease_until) > ? AS hasLease, max(lease_until) AS leaseUntil
  FROM worker GROUP BY hostname, host, boot ORDER BY hostname, host, boot`;
export const insertSupervisor = `INSERT INTO supervisor (id, pid, start_time, host, boot, pid_namespace)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;
export const deleteSupervisor = 'DELETE FROM supervisor WHERE id = ?';
export const supervisors = `${SELECT_PROCESS} FROM supervisor ORDER BY id`;
export const orderWorkers = `UPDATE worker SET stop_order = max(stop_order, ?1) WHERE ?2 IS NULL
  OR id IN (SELECT value FROM json_each(?2)) OR supervisor IN (SELECT value FROM json_each(?2))`;
export const orderSupervisors = `UPDATE supervisor SET stop_order = max(stop_order, ?1) WHERE ?2 IS NULL
  OR id IN (SELECT value FROM json_each(?2))`;
