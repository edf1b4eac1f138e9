import { FIELD_COLUMN_COUNT, FIELD_COLUMNS } from '../../job-columns.ts';

export const INSERT_JOB = `INSERT INTO job (${FIELD_COLUMNS}, blockers, phase, created_at, updated_at, due_at, state`;
export const JOB_VALUES = `(${'?, '.repeat(FIELD_COLUMN_COUNT + 5)}'pending')`;
export const insertJob = `${INSERT_JOB}) VALUES ${JOB_VALUES}`;
/** Counts all jobs added to a queue at once. A trigger would run for each job. */
export const countAdded = `INSERT INTO counter (queue, state, jobs) VALUES (?, 'pending', ?)
  ON CONFLICT (queue, state) DO UPDATE SET jobs = jobs + excluded.jobs`;
/** Takes one event number for each job and stores one row with the last of them. */
export const recordEnqueued = `INSERT INTO event (number, at, kind, actor, jobs, first_job, id, queue) VALUES
  (coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'event'), 0) + ?, ?, 'enqueued', ?, ?, ?, ?, ?)`;
