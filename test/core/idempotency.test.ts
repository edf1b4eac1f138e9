import { expect, test } from 'bun:test';
import { canonical } from '../../src/core/idempotency.ts';
import { readJobObject } from '../../src/core/job-input.ts';

const NOW = Date.UTC(2030, 0);
const said = (object: Record<string, unknown>, now = NOW) => canonical(readJobObject(object, now).input);
const bare = { command: 'echo a', queue: 'q' };

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['another order of fields', { queue: 'q', command: 'echo a' }, bare],
  ['another spelling of a field', { cmd: 'echo a', queue: 'q' }, bare],
  ['another order of tags', { ...bare, tags: { a: '1', b: '2' } }, { ...bare, tags: { b: '2', a: '1' } }],
  ['another spelling of a duration', { ...bare, delay: '1m' }, { ...bare, delay: 60 }],
  ['a time that counts from now, either way', { ...bare, delay: '1m' }, { ...bare, run_at: '+60s' }],
  ['the key itself', { ...bare, idempotency_key: 'k' }, bare],
  ['what queuectl owns', { ...bare, state: 'dead', attempts: 3 }, bare],
])('equal: %s', (_, one, two) => {
  expect(said(one, NOW)).toBe(said(two, NOW + 12_345));
});

test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
  ['another command', { ...bare, command: 'echo b' }, bare],
  ['something more', { ...bare, priority: 0 }, bare],
  ['another delay', { ...bare, delay: 1 }, { ...bare, delay: 2 }],
  ['a delay and a time', { ...bare, delay: 1 }, { ...bare, run_at: NOW + 1000 }],
  ['another time', { ...bare, run_at: NOW + 1000 }, { ...bare, run_at: NOW + 2000 }],
  ['another tag', { ...bare, tags: { a: '1' } }, { ...bare, tags: { a: '2' } }],
  ['another order of arguments', { argv: ['a', 'b', 'c'] }, { argv: ['a', 'c', 'b'] }],
  ['an argument in two', { argv: ['a', 'b c'] }, { argv: ['a', 'b', 'c'] }],
])('different: %s', (_, one, two) => {
  expect(said(one)).not.toBe(said(two));
});
