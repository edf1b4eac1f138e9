/** Tests that the time of every regular expression on user text grows linearly with the text. */
import { expect, test } from 'bun:test';
import { errorSignature } from '../../src/core/error-signature.ts';
import { maskUrls } from '../../src/core/mask.ts';
import { isPlainCommand } from '../../src/core/plain-command.ts';
import { secretIn } from '../../src/core/secrets.ts';
import { compileTemplate } from '../../src/core/template.ts';
import {
  attacksOn,
  filesWithConstructors,
  linearTime,
  type Pattern,
  patternsIn,
  textOf,
  timeOf,
  timeToRun,
  worstAttack,
} from '../support/patterns.ts';

const SHORT = 2048;
const LONG = 200_000;
/** Linear patterns differ by at most this factor. A quadratic one needs a thousand times more. */
const MOST = 50;

function problemOf({ where, regex }: Pattern): string | null {
  const limit = MOST * linearTime(SHORT);
  const worst = worstAttack(regex, attacksOn(regex), SHORT, limit);
  if (worst.time > limit) return `${where} ${regex} ${JSON.stringify(worst.attack)}`;
  const time = timeOf(regex, textOf(worst.attack, LONG), 3);
  return time > MOST * linearTime(LONG)
    ? `${where} ${regex} ${JSON.stringify(worst.attack)} at length`
    : null;
}

test('every regular expression of the program and of the dashboard is linear', () => {
  const patterns = patternsIn(['src', 'ui']);
  expect(patterns.length).toBeGreaterThan(150);
  expect(patterns.map(problemOf).filter((problem) => problem !== null)).toEqual([]);
});

test('the search finds patterns that are not linear', () => {
  const bad = [
    /\s+$/,
    /(\d+(?:\.\d+)?)(ms|s)/g,
    /(?<=^|[\s"'?&;=({|,])(-{0,2})([a-z][\w.-]*)=(?=("[^"]*"|'[^']*'|[^\s"'&;|)<>]*))/gi,
    /\$\([\s\S]*\bcase\b/,
  ];
  expect(bad.filter((regex) => problemOf({ where: '', regex }) === null)).toEqual([]);
});

test('patterns are literals, so that this test finds them', () => {
  // One of these is built of named parts and tested below. The other is built of our own file names.
  expect(filesWithConstructors(['src', 'ui']).sort()).toEqual([
    'src/core/plain-command.ts',
    'src/state/output.ts',
  ]);
});

/** Lists code that scans a text more than once, with texts that could make it start over repeatedly. */
const READERS: [string, (text: string) => unknown, string[]][] = [
  [
    'secretIn',
    secretIn,
    ['=a', ',token=', '?a="', "x='password ", 'a="', '--token ', '://a:', 'token=" ', '--a="--b=', '-'],
  ],
  ['maskUrls', maskUrls, ['://a:', '://:@', 'a://b:c@']],
  ['compileTemplate', (text) => attempt(() => compileTemplate(text)), ['#', ' #', '$(', '${', '{} ', '$(( ']],
  ['errorSignature', errorSignature, ['"', "'", '/a', '0x', '1.', '… ', ' ']],
  ['isPlainCommand', (text) => isPlainCommand(text.slice(0, 4096)), ['a ', "a ''", 'a;', 'a && ', '  ']],
];

test.each(READERS)('%s takes time in proportion to the text', (_, read, pieces) => {
  const lengths = [SHORT, LONG] as const;
  const time = (piece: string, length: number): number => {
    const text = textOf({ prefix: 'token ', unit: piece, suffix: '' }, length);
    return timeToRun(() => read(text), 3);
  };
  for (const piece of pieces) {
    const [short, long] = lengths.map((length) => time(piece, length));
    // Linear time is 98 times as long, and quadratic time is the square of that.
    const most = Math.max(8 * 98 * short!, MOST * linearTime(LONG));
    expect({ piece, linear: long! <= most }).toEqual({ piece, linear: true });
  }
});

function attempt(act: () => unknown): void {
  try {
    act();
  } catch {
    // A refusal is also a valid result.
  }
}
