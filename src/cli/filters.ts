import { QueueError } from '../core/errors.ts';
import { STATE_ALIASES, STATES, type State } from '../core/job.ts';
import { nearest } from '../core/nearest.ts';
import { parseNumber } from '../core/numbers.ts';
import type { JobFilter } from '../store/store.ts';
import type { Flag, Input } from './command.ts';

export const FILTER_FLAGS: Record<string, Flag> = {
  state: { value: 'S,…', short: 's', many: true, help: `one or several of ${STATES.join(', ')}` },
  queue: { value: 'NAME', help: 'only this queue' },
  limit: { value: 'N', short: 'n', help: 'at most so many' },
};

export function readFilter(input: Input): JobFilter {
  const filter: JobFilter = {};
  const states = input.all('state').flatMap((text) => text.split(','));
  if (states.length > 0) filter.states = states.map(readState);
  const queue = input.one('queue');
  if (queue !== undefined) filter.queue = queue;
  return filter;
}

export function readLimit(input: Input): number | null {
  const text = input.one('limit');
  return text === undefined
    ? null
    : parseNumber(text, '--limit', { min: 1, max: 1_000_000_000, integer: true });
}

function readState(text: string): State {
  const word = text.trim().toLowerCase();
  const state = STATES.find((name) => name === word) ?? STATE_ALIASES.get(word);
  if (state !== undefined) return state;
  const guess = nearest(word, [...STATES, ...STATE_ALIASES.keys()]);
  throw new QueueError(
    'invalid-value',
    `there is no state '${text}'${guess === null ? '' : `; did you mean ${guess}?`}`,
    `one of ${STATES.join(', ')}`,
  );
}
