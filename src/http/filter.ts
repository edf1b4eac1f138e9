import { type FilterSource, type JobFilter, readJobFilter } from '../core/filter.ts';
import { WAITING_REASONS } from '../core/waiting-reason.ts';
import { readFields, readTexts } from './body.ts';
import { refuse } from './problem.ts';

/** This parameter is spelled like the field of a job, not like the flag `--waiting-for`. */
const REASONS_PARAMETER = 'waiting_for';
const nameOf = (field: string): string => (field === 'waiting-for' ? REASONS_PARAMETER : field);

/** The query parameters of a job filter. A filter in a JSON body has the same names. */
export const FILTER_QUERIES: Record<string, string> = {
  state: 'one or more states, separated by commas or repeated',
  [REASONS_PARAMETER]: `one or more reasons, separated by commas or repeated: only jobs that wait for one of ${WAITING_REASONS.join(', ')}`,
  queue: 'only jobs in this queue',
  name: 'only jobs with this name',
  tag: 'only jobs with this tag, as key=value; can be repeated',
  'older-than': 'only jobs enqueued at least this long ago, such as 30s, 5m, 2h or 1d',
  error: 'only jobs whose last error contains this text',
  'exit-code': 'only jobs with this last exit code',
  search: 'text to find in the id, name, command, tags or last error of the newest 100,000 jobs',
  where: 'conditions, such as attempts>3,duration>=5m',
};

export function filterOfQuery({ one, all }: Pick<FilterSource, 'one' | 'all'>, now: number): JobFilter {
  return readJobFilter(
    { one: (field) => one(nameOf(field)), all: (field) => all(nameOf(field)), nameOf },
    now,
  );
}

/** The parameters that can be given more than once. */
export const REPEATABLE: readonly string[] = ['state', REASONS_PARAMETER, 'tag'];

/** Reads a filter such as `{"state": ["dead"], "queue": "mail"}`. Throws for an empty filter, which would match all jobs. */
export function filterOfBody(body: unknown, now: number): JobFilter {
  const given = readFields(body, Object.keys(FILTER_QUERIES));
  if (Object.keys(given).length === 0)
    refuse('invalid-request', 'the filter is empty', 'to select all jobs, list every state');
  const valuesByName = new Map(Object.entries(given).map(([name, value]) => [name, valuesOf(name, value)]));
  const all = (name: string): string[] => valuesByName.get(name) ?? [];
  return filterOfQuery({ all, one: (name) => all(name)[0] }, now);
}

function valuesOf(name: string, value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (name === 'exit-code' && Number.isInteger(value)) return [String(value)];
  if (!REPEATABLE.includes(name)) return refuse('invalid-request', `${name} of the filter must be a string`);
  const texts = readTexts(value, `${name} of the filter`);
  return texts.length > 0 ? texts : refuse('invalid-request', `${name} of the filter is empty`);
}
