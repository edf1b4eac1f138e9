import { type FilterSource, type JobFilter, readJobFilter } from '../core/filter.ts';
import { fields, texts } from './body.ts';
import { refuse } from './problem.ts';

/** The filters of `list`, as queries; a body has the same names. */
export const FILTER_QUERIES: Record<string, string> = {
  state: 'one or several states, by commas or repeated',
  queue: 'only this queue',
  name: 'only jobs of this name',
  tag: 'k=v; may be repeated',
  'older-than': 'enqueued at least so long ago: 30s, 5m, 2h, 1d',
  error: 'the last error contains this',
  'exit-code': 'the last exit code is this',
  search: 'text in the id, name, command, tags or last error of the newest 100,000 jobs',
  where: 'conditions such as attempts>3,duration>=5m',
};

export function filterOfQuery(source: Pick<FilterSource, 'one' | 'all'>, now: number): JobFilter {
  return readJobFilter({ ...source, called: (field) => field }, now);
}

/** Several of them may be meant at once. */
export const REPEATED: readonly string[] = ['state', 'tag'];

/** `{"state": ["dead"], "queue": "mail"}`: what says nothing does not mean everything. */
export function filterOfBody(body: unknown, now: number): JobFilter {
  const given = fields(body, Object.keys(FILTER_QUERIES));
  if (Object.keys(given).length === 0)
    refuse('invalid-request', 'the filter is empty', 'name every state to mean all jobs');
  const read = new Map(Object.entries(given).map(([name, value]) => [name, valuesOf(name, value)]));
  const all = (field: string): string[] => read.get(field) ?? [];
  return readJobFilter({ all, one: (field) => all(field)[0], called: (field) => field }, now);
}

function valuesOf(name: string, value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (name === 'exit-code' && Number.isInteger(value)) return [String(value)];
  if (!REPEATED.includes(name)) return refuse('invalid-request', `${name} of the filter must be one text`);
  const several = texts(value, `${name} of the filter`);
  return several.length > 0 ? several : refuse('invalid-request', `${name} of the filter is empty`);
}
