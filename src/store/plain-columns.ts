import { jobColumnLists } from './job-column-lists.ts' with { type: 'macro' };

const lists = jobColumnLists();

/** The columns that are set for a plain job, which sets no rarely used field. `queue` is the first: it gets the number of the queue. */
export const PLAIN_COLUMNS = lists.plainColumns.split(',');
export const PLAIN_KEYS = lists.plainKeys.split(',');
/** The properties that have their defaults in a plain job. */
export const RARE_KEYS = lists.rareKeys.split(',');
