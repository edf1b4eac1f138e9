import { CLOCK } from './fragments.ts';

export const beatWorker = `UPDATE worker SET beat = beat + 1, last_heartbeat = ?2, draining = ?3, lease_until = ${CLOCK} + ?4
  WHERE id = ?1 RETURNING stop_order, (SELECT json_group_object(key, value) FROM setting) AS settings`;
export const hosts = `SELECT host AS id, boot, hostname AS name, max(lease_until) > ${CLOCK} AS hasLease, max(lease_until) AS leaseUntil
  FROM worker GROUP BY hostname, host, boot ORDER BY hostname, host, boot`;
/** Changes the row of the table, or adds it while no attempt was ever made. */
export const setLastAttempt = `INSERT OR REPLACE INTO sqlite_sequence (rowid, name, seq)
  VALUES ((SELECT rowid FROM sqlite_sequence WHERE name = 'attempt'), 'attempt', ?1)`;
