import { expect, test } from 'bun:test';
import { outputParser, type StyledText } from '../../src/core/text/output-text.ts';
import { below, pick, seededRandom } from '../support/random.ts';

/** Reads pieces of output to the end. */
function read(...pieces: (string | Uint8Array)[]): StyledText[] {
  const reader = outputParser();
  return [...pieces.flatMap((piece) => reader.read(Buffer.from(piece))), ...reader.end()];
}

/** Returns the text with each piece as `[style|text]`. */
const marked = (pieces: StyledText[]): string =>
  pieces.map(({ text, style }) => `[${style}|${text}]`).join('');

test.each([
  ['\x1b[34mblue\x1b[0m', '[34|blue]'],
  ['\x1b[1;31ma\x1b[mb', '[1;31|a][|b]'],
  ['\x1b[31m\x1b[42ma\x1b[39mb\x1b[49mc', '[31;42|a][42|b][|c]'],
  ['\x1b[1;2;3;4;5;7;9;53ma\x1b[22;23;24;25;27;29;55mb', '[1;2;3;4;5;7;9;53|a][|b]'],
  ['\x1b[91;107ma\x1b[;35mb', '[91;107|a][35|b]'],
  ['\x1b[38;5;196ma\x1b[48;2;1;2;3mb', '[38;5;196|a][38;5;196;48;2;1;2;3|b]'],
  ['\x1b[38:5:196ma\x1b[38:2::1:2:3mb\x1b[38:2:4:5:6mc', '[38;5;196|a][38;2;1;2;3|b][38;2;4;5;6|c]'],
  ['\x1b[4:3ma\x1b[4:0mb', '[4|a][|b]'],
  ['a\r\nb\tc\rd', '[|a\r\nb\tc\rd]'],
])('colors become styles: %j', (output, expected) => {
  expect(marked(read(output))).toBe(expected);
});

test.each([
  ['conceal', '\x1b[8ma\x1b[31;8mb', '[|a][31|b]'],
  ['fonts, which a reset does not undo on a Linux console', '\x1b[10;11;12ma', '[|a]'],
  ['the color of underlines, with its values', '\x1b[58;5;8;31ma\x1b[58:2::1:2:3mb', '[31|a][31|b]'],
  ['values that are out of range', '\x1b[38;5;256ma\x1b[99999999999999999999mb', '[|a][|b]'],
  ['an incomplete color', '\x1b[38ma\x1b[38;5mb\x1b[38;2;1mc\x1b[38:5md', '[|a][|b][|c][|d]'],
])('codes without a use are dropped: %s', (_, output, expected) => {
  expect(marked(read(output))).toBe(expected);
});

test.each([
  ['a cursor movement', '\x1b[2A', '\\x1b[2A'],
  ['erasing the screen', '\x1b[2J\x1b[J', '\\x1b[2J\\x1b[J'],
  ['other ways to erase a line', '\x1b[3K\x1b[?K\x1b[1;2K\x1b[02K', '\\x1b[3K\\x1b[?K\\x1b[1;2K\\x1b[02K'],
  ['a title', '\x1b]0;title\x07', '\\x1b]0;title\\x07'],
  ['the clipboard', '\x1b]52;c;aGk=\x1b\\', '\\x1b]52;c;aGk=\\x1b\\'],
  ['a link', '\x1b]8;;http://x\x1b\\a', '\\x1b]8;;http://x\\x1b\\a'],
  ['a device control string', '\x1bPq#0\x1b\\', '\\x1bPq#0\\x1b\\'],
  ['questions to the terminal', '\x1b[6n\x1b[c\x1b[>0q\x1bZ', '\\x1b[6n\\x1b[c\\x1b[>0q\\x1bZ'],
  ['a full reset', '\x1bc', '\\x1bc'],
  ['private sequences that end with m', '\x1b[?4m\x1b[>4;2m\x1b[ m', '\\x1b[?4m\\x1b[>4;2m\\x1b[ m'],
  ['an 8-bit sequence', '\u009b31m\u009d0;x\u009c', '\\x9b31m\\x9d0;x\\x9c'],
  ['other control characters', 'a\bb\x07\x0b\x0c\x0e\x7f', 'a\\x08b\\x07\\x0b\\x0c\\x0e\\x7f'],
  ['characters that change the direction', 'a\u202eb\u2066', 'a\\u{202e}b\\u{2066}'],
  ['an unfinished sequence at the end', 'a\x1b[31', 'a\\x1b[31'],
  ['an escape at the end', 'a\x1b', 'a\\x1b'],
  ['a sequence with too many parameters', `\x1b[${'1;'.repeat(70)}m`, `\\x1b[${'1;'.repeat(70)}m`],
])('other sequences are escaped: %s', (_, output, expected) => {
  for (const pieces of [read(output), read(...output)]) {
    expect(pieces.map(({ text }) => text).join('')).toBe(expected);
    expect(pieces.map(({ style }) => style).join('')).toBe('');
  }
});

test('erasing a part of the line passes, in a plain style', () => {
  const output = '\x1b[41ma\r\x1b[Kb\x1b[0K\x1b[1K\x1b[2K';
  const expected = '[41|a\r][|\x1b[K][41|b][|\x1b[K][|\x1b[1K][|\x1b[2K]';
  expect(marked(read(output))).toBe(expected);
  expect(read(output).map(({ erases }) => erases)).toEqual([
    ...[undefined, 'end', undefined, 'end', 'start', 'line'],
  ] as never);
  expect(read(...output).flatMap(({ erases }) => erases ?? [])).toEqual(['end', 'end', 'start', 'line']);
});

test('a sequence or a character that is split between pieces is read as a whole', () => {
  expect(marked(read('a\x1b', '[', '3', '1', 'mb', '\x1b[0', 'm'))).toBe('[|a][31|b]');
  const euro = Buffer.from('€');
  expect(marked(read('\x1b[3', '1m', euro.subarray(0, 1), euro.subarray(1)))).toBe('[31|€]');
});

test('the end of an attempt ends its colors', () => {
  const reader = outputParser();
  reader.read(Buffer.from('\x1b[31ma\x1b[4'));
  expect(marked(reader.end())).toBe('[31|\\x1b[4]');
  expect(marked(reader.read(Buffer.from('2mb')))).toBe('[|2mb]');
});

/** Pieces of hostile and of common output. */
const UNITS = [
  ...['\x1b', '[', ';', ':', 'm', '3', '31', '38;5;', '8', '0', '\x1b[', '\x1b[31m', '\x1b[38:2::1:2:3m'],
  ...[
    '\x1b[2J',
    '\x1b[K',
    '\x1b[2K',
    'K',
    '\x1b]52;c;x\x07',
    '\u009b',
    '\r',
    '\n',
    '\r\n',
    '\t',
    '\b',
    '\ufeff',
    'text',
    '€',
    '日本',
    'e\u0301',
  ],
  ...['\u202e', '1;'.repeat(64), '\u{1f600}'],
].map((text) => Buffer.from(text));

test('any bytes in any pieces give safe text, and the same text as in one piece', () => {
  const random = seededRandom('output text');
  for (let round = 0; round < 2000; round++) {
    const units = Array.from({ length: below(random, 30) }, () =>
      random() < 0.2 ? Buffer.from([below(random, 256)]) : pick(random, UNITS),
    );
    const whole = Buffer.concat(units);
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < whole.length; ) {
      const end = at + 1 + below(random, 8);
      pieces.push(whole.subarray(at, end));
      at = end;
    }
    const text = read(...pieces);
    for (const piece of text) {
      if (piece.erases === undefined) expect(piece.text).not.toMatch(/(?![\n\r\t])[\p{Cc}\p{Cf}]/u);
      else expect(`${piece.style}${piece.text}`).toMatch(/^\x1b\[[12]?K$/);
      expect(piece.style).toMatch(/^([1-79]|[0-9]{2,3}|[34]8;(5;[0-9]+|2;[0-9]+;[0-9]+;[0-9]+)|;)*$/);
    }
    expect(characters(text)).toEqual(characters(read(whole)));
  }
});

/** Returns each character with its style. */
const characters = (pieces: StyledText[]): string[] =>
  pieces.flatMap(({ text, style }) => Array.from(text, (char) => `${style}|${char}`));
