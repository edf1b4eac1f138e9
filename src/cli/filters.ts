import { type JobFilter, readJobFilter } from '../core/filter.ts';
import { STATES } from '../core/job.ts';
import { parseNumber } from '../core/numbers.ts';
import type { Flag, Input } from './command.ts';

/** Which jobs are meant: the same flags for lists and for every action on many. */
export const FILTER_FLAGS: Record<string, Flag> = {
  state: { value: 'S,…', short: 's', many: true, help: `one or several of ${STATES.join(', ')}` },
  queue: { value: 'NAME', help: 'only this queue' },
  name: { value: 'NAME', help: 'only jobs of this name' },
  tag: { value: 'K=V', many: true, help: 'only jobs with this tag; may be repeated' },
  'older-than': { value: 'TIME', help: 'enqueued at least so long ago' },
  error: { value: 'TEXT', help: 'the last error contains this' },
  'exit-code': { value: 'N', help: 'the last exit code is this' },
  search: {
    value: 'TEXT',
    help: 'this is part of the id, name, command, tags or last error (newest 100,000 jobs)',
  },
  where: { value: 'COND,…', help: "conditions such as 'attempts>3' or 'duration>=5m'" },
};

export const LIMIT_FLAG: Flag = { value: 'N', short: 'n', help: 'at most so many' };

export function readFilter(input: Input, now: number): JobFilter {
  return readJobFilter({ one: input.one, all: input.all, called: (field) => `--${field}` }, now);
}

export function readLimit(input: Input): number | null {
  const text = input.one('limit');
  return text === undefined
    ? null
    : parseNumber(text, '--limit', { min: 1, max: 1_000_000_000, integer: true });
}
