import { describe, expect, test } from 'bun:test';
import { nearest } from '../../src/core/text/nearest.ts';

const COMMANDS = ['enqueue', 'worker', 'status', 'list', 'show', 'logs', 'dlq', 'config'];

describe('nearest', () => {
  test.each([
    ['enqeue', 'enqueue'],
    ['enqueeu', 'enqueue'],
    ['ENQUEUE', 'enqueue'],
    ['workers', 'worker'],
    ['statsu', 'status'],
    ['lsit', 'list'],
    ['dql', 'dlq'],
    ['conf1gg', 'config'],
    ['log', 'logs'],
  ] as const)("'%s' suggests %s", (word, meant) => {
    expect(nearest(word, COMMANDS)).toBe(meant);
  });

  test('short words suggest only candidates that begin alike', () => {
    expect(nearest('p', ['a', 'b'])).toBeNull();
    expect(nearest('p', ['a', 'P'])).toBe('P');
    expect(nearest('pop', ['top'])).toBeNull();
    expect(nearest('tpo', ['top'])).toBe('top');
  });

  test.each([['xyzzy'], ['frobnicate'], [''], ['q'.repeat(10_000)]] as const)(
    "'%s' suggests nothing",
    (word) => {
      expect(nearest(word, COMMANDS)).toBeNull();
    },
  );

  test('a transposition is one error and is closer than two substitutions', () => {
    expect(nearest('ab', ['ba', 'ac'])).toBe('ac');
    expect(nearest('abcd', ['axxd', 'acbd'])).toBe('acbd');
  });

  test('the closest name is chosen, the first among equals, and null without candidates', () => {
    expect(nearest('retry', ['retire', 'retri', 'retrx'])).toBe('retri');
    expect(nearest('retry', [])).toBeNull();
  });
});
