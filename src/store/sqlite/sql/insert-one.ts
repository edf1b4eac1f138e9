import { FIELD_COLUMN_COUNT, FIELD_COLUMNS } from '../../job-columns.ts';

export const INSERT_JOB = `INSERT INTO job (${FIELD_COLUMNS}, blockers, phase, created_at, updated_at, due_at, state`;
export const JOB_VALUES = `(${'?, '.repeat(FIELD_COLUMN_COUNT + 5)}'pending')`;
export const insertJob = `${INSERT_JOB}) VALUES ${JOB_VALUES}`;
export const logEnqueued = `INSERT INTO log (at, kind, actor, first_job, id, queue, new_queue, new_state, figure, figure_at, name)
  VALUES (?1, 'enqueued', ?2, ?3, ?4, ?5, ?5, 'pending', 'enqueued', ?6, ?7)`;
