import type { Condition, StoreFilter } from '../../core/filter.ts';

export interface FilterSql {
  /** A condition that begins with AND, or an empty text. */
  text: string;
  values: (string | number)[];
}

const COLUMNS: Record<Condition['field'], string> = {
  attempts: 'attempts',
  crashes: 'crashes',
  priority: 'priority',
  max_retries: 'max_retries',
  exit_code: 'exit_code',
  duration: 'duration_ms',
};

/** Joins the searched columns, so that a search costs one comparison for each job. No id or name contains the separator. */
const SEARCHED_TEXT = 'concat_ws(char(31), id, command, job.name, tags, last_error)';

const IN_DUE_QUEUE = 'job.queue IN (SELECT number FROM queue WHERE name IN (SELECT value FROM json_each(?)))';
/** Matches the selected waiting jobs. A job that is due counts as ready, even if no claim has promoted it yet. */
const WAITING = `CASE phase WHEN 'held' THEN ? WHEN 'blocked' THEN ? WHEN 'ready' THEN ${IN_DUE_QUEUE}
  WHEN 'waiting' THEN iif(due_at <= ?, ${IN_DUE_QUEUE}, iif(state = 'failed', ?, ?)) ELSE 0 END`;

/** Returns the conditions of a filter except name, state and queue, which choose the index. User text is always a bound value. */
export function filterSql(filter: StoreFilter): FilterSql {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  const add = (text: string, ...given: (string | number)[]): void => {
    parts.push(` AND ${text}`);
    values.push(...given);
  };
  for (const [key, value] of Object.entries(filter.tags ?? {})) {
    // The cheap text comparison comes first, so that few rows are parsed as JSON.
    add('instr(tags, ?) > 0', JSON.stringify(value));
    add('EXISTS (SELECT 1 FROM json_each(tags) WHERE key = ? AND value = ?)', key, value);
  }
  if (filter.createdBefore !== undefined) add('created_at < ?', filter.createdBefore);
  // LIKE would treat % and _ in an error as wildcards, so instr is used.
  if (filter.error !== undefined) add('instr(lower(last_error), lower(?)) > 0', filter.error);
  if (filter.exitCode !== undefined) add('exit_code = ?', filter.exitCode);
  for (const { field, operator, value } of filter.conditions ?? [])
    add(`${COLUMNS[field]} ${operator} ?`, value);
  if (filter.waiting !== undefined) {
    const { held, blocked, scheduled, retrying, due, now } = filter.waiting;
    const queues = JSON.stringify(due);
    add(WAITING, Number(held), Number(blocked), queues, now, queues, Number(retrying), Number(scheduled));
  }
  if (filter.text !== undefined)
    add(`${SEARCHED_TEXT} LIKE ? ESCAPE '\\'`, `%${filter.text.replaceAll(/[\\%_]/g, '\\$&')}%`);
  return { text: parts.join(''), values };
}
