import { type FilterSource, type JobFilter, readJobFilter } from '../core/filter.ts';
import { fields } from './body.ts';

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

/** `{"state": ["dead"], "queue": "mail"}`: texts, numbers, or arrays of texts. */
export function filterOfBody(body: unknown, now: number): JobFilter {
  const given = fields(body, Object.keys(FILTER_QUERIES));
  const all = (field: string): string[] => {
    const value = given[field];
    return value === undefined || value === null ? [] : [value].flat().map(String);
  };
  return readJobFilter({ all, one: (field) => all(field)[0], called: (field) => field }, now);
}
