import type { Condition, JobFilter } from '../../core/filter.ts';

export interface FilterSql {
  /** Begins with AND, or is empty. */
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

/** Looked through as one text: a search costs one comparison a job, whatever it has. No id or name holds the separator. */
const SEARCHED_TEXT = 'concat_ws(char(31), id, command, job.name, tags, last_error)';

/** What a filter says beside name, state and queue, which choose the index. User text only ever becomes a bound value. */
export function filterSql(filter: JobFilter): FilterSql {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  const add = (text: string, ...given: (string | number)[]): void => {
    parts.push(` AND ${text}`);
    values.push(...given);
  };
  for (const [key, value] of Object.entries(filter.tags ?? {})) {
    // A look at the text first: few jobs are worth taking apart.
    add('instr(tags, ?) > 0', JSON.stringify(value));
    add('EXISTS (SELECT 1 FROM json_each(tags) WHERE key = ? AND value = ?)', key, value);
  }
  if (filter.createdBefore !== undefined) add('created_at < ?', filter.createdBefore);
  // instr, not LIKE: % and _ in an error are just text.
  if (filter.error !== undefined) add('instr(lower(last_error), lower(?)) > 0', filter.error);
  if (filter.exitCode !== undefined) add('exit_code = ?', filter.exitCode);
  for (const { field, operator, value } of filter.conditions ?? [])
    add(`${COLUMNS[field]} ${operator} ?`, value);
  if (filter.text !== undefined)
    add(`${SEARCHED_TEXT} LIKE ? ESCAPE '\\'`, `%${filter.text.replaceAll(/[\\%_]/g, '\\$&')}%`);
  return { text: parts.join(''), values };
}
