import { describe, expect, test } from 'bun:test';
import { checkName } from '../../src/core/jobs/id.ts';
import { idMaker } from '../../src/core/jobs/new-id.ts';
import { errorOf } from '../support/error-of.ts';

const NOW = Date.UTC(2030, 0);

describe('ids', () => {
  test.each([[0], [0.5], [0.999999999]] as const)(
    'made 100,000 times in one millisecond differ and are in order (random value %p)',
    (randomValue) => {
      const make = idMaker(() => randomValue);
      const ids = Array.from({ length: 100_000 }, () => make(NOW));
      expect(new Set(ids).size).toBe(100_000);
      expect(ids.every((id, i) => i === 0 || ids[i - 1]! < id)).toBe(true);
      expect(ids.every((id) => /^[0-9a-hjkmnp-tv-z]{13}$/.test(id))).toBe(true);
    },
  );

  test('that do not fit into one millisecond stay in order', () => {
    const make = idMaker(() => 0.999999999);
    let last = make(NOW);
    for (let i = 0; i < 600_000; i++) {
      const id = make(NOW);
      if (id <= last) throw new Error(`${id} after ${last}`);
      last = id;
    }
    expect(make(NOW + 2) > last).toBe(true);
  });

  test('sort by time, whatever the random value', () => {
    const randomValues = [0.9, 0.1, 0.5];
    const make = idMaker(() => randomValues.pop()!);
    const ids = [NOW, NOW + 1, NOW + 86_400_000].map(make);
    expect(ids.toSorted()).toEqual(ids);
  });

  test('do not become smaller when the clock steps back', () => {
    const make = idMaker(() => 0.5);
    const before = make(NOW);
    expect(make(NOW - 60_000) > before).toBe(true);
  });

  test('of two generators in the same millisecond differ by their random part', () => {
    expect(idMaker(() => 0.1)(NOW)).not.toBe(idMaker(() => 0.2)(NOW));
  });
});

describe('names', () => {
  test.each(
    [
      ...[
        'a',
        'job-1',
        '../../etc/passwd',
        'a/b',
        `it's "quoted"`,
        'with spaces',
        '$(rm -rf /)',
        '*',
        '.',
        '0',
        '__proto__',
      ],
      ...['🎉', '⚙️', '❤️x', 'größe', 'a\u0301', '조선', '作业', 'a-', 'a'.repeat(128), '🎉'.repeat(128)],
    ].map((name) => [name] as const),
  )('%j is accepted unchanged', (name) => {
    expect(checkName(name, 'id')).toBe(name);
  });

  test.each([
    ['empty', '', 'must not be empty'],
    ['blank', '  ', 'must not be empty'],
    ['129 characters', 'a'.repeat(129), 'must have at most 128 characters'],
    ['129 emoji', '🎉'.repeat(129), 'must have at most 128 characters'],
    ['like a flag', '-rf', "must not start with '-'"],
    ['a dash', '-', "must not start with '-'"],
  ] as const)('that are invalid are refused: %s', (_, name, problem) => {
    expect(errorOf(() => checkName(name, 'queue')).message).toBe(`queue ${problem}`);
  });

  test.each([
    ['NUL', '\0'],
    ['newline', '\n'],
    ['tab', '\t'],
    ['escape', '\x1b'],
    ['delete', '\x7f'],
    ['C1 control', '\x9b'],
    ['Hangul filler', '\u3164'],
    ['halfwidth Hangul filler', '\uffa0'],
    ['Hangul initial filler', '\u115f'],
    ['Hangul medial filler', '\u1160'],
    ['Braille blank', '\u2800'],
    ['grapheme joiner', '\u034f'],
    ['Mongolian selector', '\u180b'],
    ['Khmer vowel that is not drawn', '\u17b4'],
    ['selector behind a letter', 'a\ufe0f'],
    ['other selector', '⚙\ufe0e'],
    ['Khitan filler', '\u{16fe4}'],
    ['null notehead', '\u{1d159}'],
    ['tag character', '\u{e0041}'],
    ['bidi override', '\u202e'],
    ['bidi isolate', '\u2066'],
    ['right-to-left mark', '\u200f'],
    ['zero-width space', '\u200b'],
    ['zero-width joiner', '\u200d'],
    ['byte order mark', '\ufeff'],
    ['soft hyphen', '\u00ad'],
    ['line separator', '\u2028'],
    ['half a character', '\ud800'],
  ] as const)('%s is refused in any position', (_, character) => {
    for (const name of [`${character}a`, `a${character}b`, `a${character}`]) {
      const error = errorOf(() => checkName(name, 'id'));
      expect(error.code).toBe('invalid-job');
      expect(error.message).toBe('id must not contain control or invisible characters');
    }
  });
});
