/**
 * This folder has one file of statements for each part of the contract. A statement names its parameters $1, $2 and so on. An
 * alias with a capital letter needs quotes. PostgreSQL uses a partial index only if the statement repeats its predicate
 * literally, so `phase = 'ready'` is never a parameter, and neither is a LIMIT on which the choice of an index depends.
 */

import { FIELD_COLUMNS } from '../../job-columns.ts';

export const JOB = `job.number, ${FIELD_COLUMNS.map((column) => (column === 'queue' ? 'queue.name AS queue' : `job.${column}`))},
  job.state, job.attempts, job.crashes, job.runs, job.token, job.attempt, job.worker_id, job.created_at, job.updated_at,
  job.due_at, job.started_at, job.finished_at, job.exit_code, job.last_error, job.duration_ms, job.phase, job.unique_key,
  job.unique_while, job.unique_until`;
export const FROM_JOB = 'FROM job JOIN queue ON queue.number = job.queue';

/** The time of the server's clock in milliseconds. It is not the start of the transaction, which may have waited for a lock. */
export const SERVER_NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';
/** Is true for a worker, or a host, whose lease is not over. */
export const HAS_LEASE = `(lease_until > ${SERVER_NOW})`;
/** Returns the name of an attempt's host if it is not the host with this id, or else null. */
export const otherHost = (ownId: string): string =>
  `CASE WHEN attempt.host <> ${ownId} THEN coalesce((SELECT name FROM host WHERE host.id = attempt.host), attempt.host) END`;

/** The new `unique_slot` of a job that ends. A key with a time limit stays in use. */
export const SLOT_OF_ENDED = 'CASE WHEN unique_while IS NULL THEN unique_slot END';
/** The new `unique_slot` of a job that starts. */
export const SLOT_OF_STARTED = "CASE WHEN unique_while = 'pending' THEN NULL ELSE unique_slot END";

/**
 * Repeats the condition of a join with a WITH clause in a form that always uses the index of the column. Otherwise PostgreSQL
 * reads the whole index if its statistics say that the table is empty.
 */
export const isOneOf = (column: string, value: string, clause: string): string =>
  `${column} = ANY (ARRAY(SELECT ${value} FROM ${clause}))`;

/** A claim looks at this many more jobs of each queue than it takes, because other claims may be taking the first ones. */
export const SPARE = 48;
