/**
 * This folder has the statements of PostgreSQL alone. The others are in parts/. A statement names its parameters $1, $2 and so on. An
 * alias with a capital letter needs quotes. PostgreSQL uses a partial index only if the statement repeats its predicate
 * literally, so `phase = 'ready'` is never a parameter, and neither is a LIMIT on which the choice of an index depends.
 */

import { HAS_FILE } from '../../parts/jobs.ts';
import { JOB } from '../../rows.ts';

export const FROM_JOB = 'FROM job JOIN queue ON queue.number = job.queue';

/** The time of the server's clock in milliseconds. It is not the start of the transaction, which may have waited for a lock. */
export const SERVER_NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** Selects the time of the server and the version of the schema, which every write reads. */
export const selectHead = (meta = 'meta'): string =>
  `extract(epoch FROM clock_timestamp()) AS seconds, (SELECT value FROM ${meta} WHERE key = 'schema') AS version`;
/** Is true for a worker, or a host, whose lease is not over. */
export const HAS_LEASE = `(lease_until > ${SERVER_NOW})`;
/** Is true for an attempt, worker or supervisor if its host has a lease in the boot of the row. */
export const bootHasLease = (table: string): string =>
  `EXISTS (SELECT 1 FROM host WHERE host.id = ${table}.host AND host.boot = ${table}.boot AND ${HAS_LEASE})`;
/**
 * Is true for an attempt whose files are not on this host, which has the given id and boot. Another boot with the same id was an
 * earlier one of this machine, unless it still has a lease. Then it may be of a machine that is a copy of this one.
 */
export const isElsewhere = (ownId: string, ownBoot: string): string =>
  `(attempt.host <> ${ownId} OR (attempt.boot <> ${ownBoot} AND ${bootHasLease('attempt')}))`;
const ofHost = (column: string): string =>
  `(SELECT ${column} FROM host WHERE host.id = attempt.host AND host.boot = attempt.boot)`;
const DIRECTORY_OF_HOST = ofHost('directory');
/** Returns the name of an attempt's host if the attempt is elsewhere, or else null. */
export const otherHost = (ownId: string, ownBoot: string): string =>
  `CASE WHEN ${isElsewhere(ownId, ownBoot)} THEN coalesce(${ofHost('name')}, attempt.host) END`;
/** While an attempt runs, its output is as long as what was shared of it. $2 and $3 are the id and the boot of this host. */
export const OUTPUT_COLUMNS = `CASE WHEN finished_at IS NULL THEN shared_end ELSE output_bytes END AS "outputBytes",
  ${otherHost('$2', '$3')} AS "otherHost",
  CASE WHEN ${isElsewhere('$2', '$3')} AND ${HAS_FILE} THEN ${DIRECTORY_OF_HOST} END AS "otherDirectory"`;

/** Selects jobs with their attempts. LIMIT makes PostgreSQL look up the attempt of each job by its number. */
export const selectClaimed = (
  host: string,
  boot: string,
): string => `SELECT ${JOB}, end_reason, other_host, other_boot ${FROM_JOB}
  LEFT JOIN LATERAL (SELECT end_reason, ${otherHost(host, boot)} AS other_host, attempt.boot <> ${boot} AS other_boot FROM attempt
    WHERE attempt.number = job.attempt LIMIT 1) AS running ON true`;
/**
 * Follows the conditions of a job that worker $1 adopts on the host with id $4 and boot $5. An attempt of another host is left to that
 * host until its lease is over. An attempt of another boot with the id of this host is left until the lease of that boot is over. A
 * worker whose own lease is over adopts nothing. An adopter that is no worker, such as a command that cancels a job, has no lease.
 */
export const IS_ADOPTABLE = ` AND NOT EXISTS (SELECT 1 FROM attempt JOIN host ON host.id = attempt.host
    WHERE attempt.number = job.attempt AND (attempt.host <> $4 OR attempt.boot <> $5)
      AND (attempt.host <> $4 OR host.boot = attempt.boot) AND ${HAS_LEASE})
  AND NOT EXISTS (SELECT 1 FROM worker WHERE worker.id = $1 AND NOT ${HAS_LEASE})`;

/** The new `unique_slot` of a job that starts. */
export const UNIQUE_SLOT_OF_STARTED = "CASE WHEN unique_while = 'pending' THEN NULL ELSE unique_slot END";

/**
 * Repeats the condition of a join with a WITH clause in a form that always uses the index of the column. Otherwise PostgreSQL
 * reads the whole index if its statistics say that the table is empty.
 */
export const isOneOf = (column: string, value: string, clause: string): string =>
  `${column} = ANY (ARRAY(SELECT ${value} FROM ${clause}))`;

export const AT_MOST_ONCE = "coalesce(policy::json ->> 'atMostOnce' = 'true', false)";

/** A claim looks at this many more jobs of each queue than it takes, because other claims may be taking the first ones. */
export const SPARE = 48;
