import { expect, test } from 'bun:test';
import type { Io } from '../../src/cli/frame/io.ts';
import { outputPrinter } from '../../src/cli/print/output-printer.ts';
import { below, seededRandom } from '../support/random.ts';

/** Returns a printer, and the list of what it writes to stdout and stderr. */
function printer(options: Partial<Io> = {}, raw = false, stream: 'stdout' | 'stderr' = 'stdout') {
  const written: string[] = [];
  const write = (data: Uint8Array): void => void written.push(Buffer.from(data).toString());
  const io = { tty: true, color: true, errTty: false, errColor: false, ...options };
  const made = outputPrinter({ ...io, bytes: write, errBytes: write } as unknown as Io, raw, stream);
  return { ...made, print: (text: string) => made.print(Buffer.from(text)), written };
}

test('each write to a terminal starts and ends plain, and colors continue with the next one', () => {
  const { print, end, written } = printer();
  for (const text of ['\x1b[31mred', ' more\x1b[1m', 'bold\x1b[0m\n', '\x1b[32m']) print(text);
  end();
  expect(written).toEqual(['\x1b[31mred\x1b[0m', '\x1b[31m more\x1b[0m', '\x1b[31;1mbold\x1b[0m\n']);
});

test('each change of style resets the previous one', () => {
  const { print, written } = printer();
  print('\x1b[1;31ma\x1b[0;32mb\x1b[4mc\x1b[m\n');
  expect(written.join('')).toBe('\x1b[1;31ma\x1b[0;32mb\x1b[0;32;4mc\x1b[0m\n');
});

test.each([
  ['text', 'text\n'],
  ['text\n', 'text\n'],
  ['10%\r20%\r', '10%\r20%\r\n'],
  ['text\n\r', 'text\n\r'],
  ['', ''],
  ['a\x1b[3', 'a\\x1b[3\n'],
  ['10%\r\x1b[K', '10%\r\x1b[K'],
  ['10%\x1b[2K\r', '10%\x1b[2K\r'],
  ['10%\r\x1b[K20%', '10%\r\x1b[K20%\n'],
  ['a\n\x1b[K', 'a\n\x1b[K'],
])('a terminal is left at the start of an empty line after %j', (text, expected) => {
  const { print, end, written } = printer();
  for (const char of text) print(char);
  end();
  expect(written.join('')).toBe(expected);
});

test('without colors, color sequences are dropped and carriage returns take effect', () => {
  const { print, end, reset, written } = printer({ color: false });
  print('\x1b[31m10%\r\x1b[32m20%\x1b[0m\x1b[2J\n');
  end();
  reset();
  expect(written.join('')).toBe('10%\r20%\\x1b[2J\n');
});

test('a pipe and --raw get the bytes unchanged', () => {
  const hostile = '\x1b[31m\x1b[8m\x1b]0;x\x07\r';
  for (const { print, end, reset, written } of [printer({ tty: false }), printer({}, true)]) {
    print(hostile);
    end();
    reset();
    expect(written).toEqual([hostile]);
  }
});

test('stderr follows its own terminal and color settings', () => {
  const on = (options: Partial<Io>): string => {
    const { print, written } = printer(options, false, 'stderr');
    print('\x1b[31mx\x07');
    return written.join('');
  };
  expect(on({ tty: false, color: false, errTty: true, errColor: true })).toBe('\x1b[31mx\\x07\x1b[0m');
  expect(on({ errTty: true, errColor: false })).toBe('x\\x07');
  expect(on({ errTty: false })).toBe('\x1b[31mx\x07');
});

test('after an interruption, colors are reset again if there were any', () => {
  const { print, reset, written } = printer();
  print('plain');
  reset();
  print('\x1b[31mred');
  reset();
  expect(written).toEqual(['plain', '\x1b[31mred\x1b[0m', '\x1b[0m']);
});

test('any bytes in any pieces write no control characters to a terminal except colors and erasures of a line', () => {
  const random = seededRandom('output printer');
  const alphabet = [
    '\x1b',
    '[',
    '3',
    '1',
    ';',
    '8',
    'm',
    'K',
    '2',
    'J',
    '\r',
    '\n',
    'a',
    '\x07',
    '\u009b',
    '\u202e',
  ];
  for (let round = 0; round < 1000; round++) {
    const { print, end, written } = printer();
    for (let i = below(random, 20); i > 0; i--)
      print(
        Array.from({ length: below(random, 8) }, () => alphabet[below(random, alphabet.length)]).join(''),
      );
    end();
    for (const text of written) {
      expect(text.replace(/\x1b\[([0-9;]*m|[12]?K)/g, '')).not.toMatch(/(?![\n\r\t])[\p{Cc}\p{Cf}]/u);
      expect(text).not.toMatch(/\x1b\[([0-9;]*;)?8(;[0-9;]*)?m/);
      // The last sequence of each write is a reset.
      expect(text.match(/\x1b\[[0-9;]*m/g)?.at(-1) ?? '\x1b[0m').toBe('\x1b[0m');
    }
  }
});
