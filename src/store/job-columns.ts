import { jobColumnLists } from './job-column-lists.ts' with { type: 'macro' };

/** The bundler calls the function and puts its result here, because a command that only enqueues a job must not make the lists. */
const lists = jobColumnLists();

/** The properties of a job that have a column of their own, in the order of FIELD_COLUMNS. */
export const OWN_KEYS = lists.ownKeys.split(',');
/** The properties that share the JSON object in the column `start`. Those that a job does not set are left out of it. */
export const START_KEYS = lists.startKeys.split(',');
/** The columns of `job` that hold what a user sets, without those of unique keys, separated by commas. */
export const FIELD_COLUMNS = lists.columns;
/** The number of FIELD_COLUMNS. The last three are `hooks`, `policy` and `start`. */
export const FIELD_COLUMN_COUNT = OWN_KEYS.length + 3;
/** The expressions that select FIELD_COLUMNS from `job` and `queue`. */
export const SELECTED_FIELDS = lists.selected;
/** The columns that are set for a plain job, which sets no rarely used field. `queue` is the first: it gets the number of the queue. */
export const PLAIN_COLUMNS = lists.plainColumns.split(',');
export const PLAIN_KEYS = lists.plainKeys.split(',');
/** The properties that have their defaults in a plain job. */
export const RARE_KEYS = lists.rareKeys.split(',');
