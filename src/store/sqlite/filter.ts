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

/** What a filter says beside state and queue, which choose the index. User text only ever becomes a bound value. */
export function filterSql(filter: JobFilter): FilterSql {
  const parts: string[] = [];
  const values: (string | number)[] = [];
  const add = (text: string, ...given: (string | number)[]): void => {
    parts.push(` AND ${text}`);
    values.push(...given);
  };
  if (filter.name !== undefined) add('job.name = ?', filter.name);
  for (const [key, value] of Object.entries(filter.tags ?? {})) {
    add('EXISTS (SELECT 1 FROM json_each(tags) WHERE key = ? AND value = ?)', key, value);
  }
  if (filter.createdBefore !== undefined) add('created_at < ?', filter.createdBefore);
  // instr, not LIKE: % and _ in an error are just text.
  if (filter.error !== undefined) add('instr(lower(last_error), lower(?)) > 0', filter.error);
  if (filter.exitCode !== undefined) add('exit_code = ?', filter.exitCode);
  for (const { field, operator, value } of filter.conditions ?? [])
    add(`${COLUMNS[field]} ${operator} ?`, value);
  return { text: parts.join(''), values };
}
