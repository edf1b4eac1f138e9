import { HAS_LEASE, SERVER_NOW, selectHead } from './fragments.ts';

export const setLastAttempt = "SELECT setval('attempt_number_seq', $1)";
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
/** Notes that a worker which holds jobs has ended. Its lease goes on, because its host can still adopt its jobs. */
export const noteLeft = 'UPDATE worker SET has_left = 1 WHERE id = $1';
/** Reads the last boot of each host and name, and others that have a lease. Names used long ago stay, because attempts refer to their hosts. */
export const hosts = `SELECT id, boot, name, ${HAS_LEASE} AS "hasLease", lease_until AS "leaseUntil" FROM host WHERE ${HAS_LEASE}
  OR lease_until = (SELECT max(lease_until) FROM host AS any_boot WHERE any_boot.id = host.id AND any_boot.name = host.name)
  ORDER BY name, id, boot`;
