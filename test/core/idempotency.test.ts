import { expect, test } from 'bun:test';
import { canonicalText } from '../../src/core/jobs/enqueue-rules.ts';
import { readJobObject } from '../../src/core/jobs/job-input.ts';

const NOW = Date.UTC(2030, 0);
const canonicalOf = (object: Record<string, unknown>, now = NOW) =>
  canonicalText(readJobObject(object, now).input);
const minimal = { command: 'echo a', queue: 'q' };

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['another order of fields', { queue: 'q', command: 'echo a' }, minimal],
  ['another spelling of a field', { cmd: 'echo a', queue: 'q' }, minimal],
  [
    'another order of tags',
    { ...minimal, tags: { a: '1', b: '2' } },
    { ...minimal, tags: { b: '2', a: '1' } },
  ],
  ['another spelling of a duration', { ...minimal, delay: '1m' }, { ...minimal, delay: 60 }],
  ['a delay and the same relative time', { ...minimal, delay: '1m' }, { ...minimal, run_at: '+60s' }],
  ['a job with and without the key', { ...minimal, idempotency_key: 'k' }, minimal],
  ['a job with fields that queuectl sets itself', { ...minimal, state: 'dead', attempts: 3 }, minimal],
])('the canonical text is the same for %s', (_, one, two) => {
  expect(canonicalOf(one, NOW)).toBe(canonicalOf(two, NOW + 12_345));
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['another command', { ...minimal, command: 'echo b' }, minimal],
  ['an additional field', { ...minimal, priority: 0 }, minimal],
  ['another delay', { ...minimal, delay: 1 }, { ...minimal, delay: 2 }],
  ['a delay and a time', { ...minimal, delay: 1 }, { ...minimal, run_at: NOW + 1000 }],
  ['another time', { ...minimal, run_at: NOW + 1000 }, { ...minimal, run_at: NOW + 2000 }],
  ['another tag', { ...minimal, tags: { a: '1' } }, { ...minimal, tags: { a: '2' } }],
  ['another order of arguments', { argv: ['a', 'b', 'c'] }, { argv: ['a', 'c', 'b'] }],
  ['an argument split into two', { argv: ['a', 'b c'] }, { argv: ['a', 'b', 'c'] }],
])('the canonical text is different for %s', (_, one, two) => {
  expect(canonicalOf(one)).not.toBe(canonicalOf(two));
});
