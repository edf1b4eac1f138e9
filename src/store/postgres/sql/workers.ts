import { bootHasLease, HAS_LEASE, SERVER_NOW, selectHead } from './fragments.ts';

/**
 * Waits for claims, so that no attempt number is drawn meanwhile. Otherwise the sequence could be set to a number below one that
 * was drawn.
 */
export const lockAttempts = 'LOCK TABLE attempt IN SHARE ROW EXCLUSIVE MODE';
export const setLastAttempt = "SELECT setval('attempt_number_seq', $1)";
/** An order to the supervisor waits for this transaction, and then also orders the new worker to stop. */
export const lockSupervisor = 'SELECT stop_order FROM supervisor WHERE id = $1 FOR SHARE';
export const insertWorker = `INSERT INTO worker (id, supervisor, pid, start_time, host, boot, pid_namespace, hostname,
  concurrency, queues, started_at, last_heartbeat, stop_order, lease_until)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $11, $12, ${SERVER_NOW} + $13::bigint) ON CONFLICT DO NOTHING`;
/** Stores the name and the state directory of a host, which may have changed, and lengthens the lease of the host. */
export const putHost = `INSERT INTO host (id, boot, name, directory, lease_until) VALUES ($1, $2, $3, $4, ${SERVER_NOW} + $5::bigint)
  ON CONFLICT (id, boot) DO UPDATE SET name = excluded.name, directory = excluded.directory,
    lease_until = greatest(host.lease_until, excluded.lease_until)`;
/**
 * Renews the lease of a worker and of its host, and reads what a heartbeat needs. A lease that is over is not renewed, because others may
 * have acted on its end.
 */
export const beatWorker = `WITH beaten AS (UPDATE worker SET beat = beat + 1, last_heartbeat = $2, draining = $3, has_left = 0,
    lease_until = ${SERVER_NOW} + $4::bigint WHERE id = $1 AND ${HAS_LEASE} RETURNING host, boot, stop_order, lease_until),
  renewed AS (UPDATE host SET lease_until = greatest(host.lease_until, beaten.lease_until)
    FROM beaten WHERE host.id = beaten.host AND host.boot = beaten.boot)
  SELECT stop_order, (SELECT json_object_agg(key, value)::text FROM setting) AS settings, ${selectHead()}
  FROM (SELECT 1) AS one LEFT JOIN beaten ON true`;
export const stopOrder = 'SELECT stop_order FROM worker WHERE id = $1';
/** Waits for claims of these workers that have not been committed, and for heartbeats that make them drain. */
export const lockWorkers =
  'SELECT id, draining, stop_order FROM worker WHERE id = ANY($1) ORDER BY id FOR UPDATE';
export const deleteIdleWorker = `DELETE FROM worker WHERE id = $1
  AND NOT EXISTS (SELECT 1 FROM job WHERE phase = 'running' AND job.worker_id = worker.id)`;
/** Notes that a worker which holds jobs has ended. Its lease goes on, because its host can still adopt its jobs. */
export const noteLeft = 'UPDATE worker SET has_left = 1 WHERE id = $1';
export const deleteWorker = 'DELETE FROM worker WHERE id = $1';
const selectProcess = (
  table: string,
): string => `SELECT id, pid, start_time AS "startTime", host, boot, pid_namespace AS "pidNamespace",
  ${bootHasLease(table)} AS "bootHasLease", stop_order AS "stopOrder"`;
export const workers = `${selectProcess('worker')}, supervisor, hostname, concurrency, queues, started_at AS "startedAt",
  last_heartbeat AS "lastHeartbeat", ${HAS_LEASE} AS "hasLease", has_left AS "hasLeft", beat, draining, (SELECT json_agg(job.id)::text FROM job
    WHERE phase = 'running' AND job.worker_id = worker.id) AS "currentJobs" FROM worker ORDER BY started_at, id`;
/** Reads the last boot of each host and name, and others that have a lease. Names used long ago stay, because attempts refer to their hosts. */
export const hosts = `SELECT id, boot, name, ${HAS_LEASE} AS "hasLease", lease_until AS "leaseUntil" FROM host WHERE ${HAS_LEASE}
  OR lease_until = (SELECT max(lease_until) FROM host AS any_boot WHERE any_boot.id = host.id AND any_boot.name = host.name)
  ORDER BY name, id, boot`;
export const insertSupervisor = `INSERT INTO supervisor (id, pid, start_time, host, boot, pid_namespace)
  VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING`;
export const deleteSupervisor = 'DELETE FROM supervisor WHERE id = $1';
export const supervisors = `${selectProcess('supervisor')} FROM supervisor ORDER BY id`;
export const orderSupervisors =
  'UPDATE supervisor SET stop_order = greatest(stop_order, $1) WHERE $2::text[] IS NULL OR id = ANY($2)';
export const orderWorkers = `UPDATE worker SET stop_order = greatest(stop_order, $1)
  WHERE $2::text[] IS NULL OR id = ANY($2) OR supervisor = ANY($2)`;
