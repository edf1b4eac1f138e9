import { parseDuration } from '../core/duration.ts';
import { QueueError } from '../core/errors.ts';
import { type JobFilter, readConditions, readState, readTag } from '../core/filter.ts';
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
  where: { value: 'COND,…', help: "conditions such as 'attempts>3' or 'duration>=5m'" },
};

export const LIMIT_FLAG: Flag = { value: 'N', short: 'n', help: 'at most so many' };

export function readFilter(input: Input, now: number): JobFilter {
  const filter: JobFilter = {};
  const states = input.all('state').flatMap((text) => text.split(','));
  if (states.length > 0) filter.states = states.map(readState);
  const text = (flag: string, use: (value: string) => void): void => {
    const value = input.one(flag);
    if (value === undefined) return;
    if (value.trim() === '') throw new QueueError('invalid-value', `--${flag} is empty`);
    use(value);
  };
  text('queue', (value) => {
    filter.queue = value;
  });
  text('name', (value) => {
    filter.name = value;
  });
  if (input.has('tag'))
    filter.tags = Object.fromEntries(input.all('tag').map((tag) => readTag(tag, '--tag')));
  text('older-than', (value) => {
    filter.createdBefore = now - parseDuration(value, '--older-than');
  });
  text('error', (value) => {
    filter.error = value;
  });
  text('exit-code', (value) => {
    filter.exitCode = parseNumber(value, '--exit-code', { min: 0, max: 255, integer: true });
  });
  text('where', (value) => {
    filter.conditions = readConditions(value);
  });
  return filter;
}

export function readLimit(input: Input): number | null {
  const text = input.one('limit');
  return text === undefined
    ? null
    : parseNumber(text, '--limit', { min: 1, max: 1_000_000_000, integer: true });
}
