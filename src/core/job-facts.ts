import { STATES } from './job.ts';
import { integer, maybe, oneOf, text, time } from './schema.ts';
import { WAITING_REASONS } from './waiting-reason.ts';

/** The fields of a printed job that queuectl sets, and their schemas. */
export const JOB_FACTS = {
  state: oneOf(STATES),
  attempts: integer,
  created_at: time,
  updated_at: time,
  next_run_at: maybe(time),
  stdin_bytes: integer,
  worker_id: maybe(text),
  /** The process group of the running attempt. Null if none runs on this machine. */
  pid: maybe(integer),
  started_at: maybe(time),
  finished_at: maybe(time),
  exit_code: maybe(integer),
  signal: maybe(text),
  last_error: maybe(text),
  crashes: integer,
  duration_ms: maybe(integer),
  waiting_for: maybe(oneOf(WAITING_REASONS)),
};
