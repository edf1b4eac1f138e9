/** Tests that the run time of every regular expression grows linearly with the text. */
import { expect, test } from 'bun:test';
import { compileTemplate } from '../../src/core/jobs/template.ts';
import { errorSignature } from '../../src/core/text/error-line.ts';
import { maskEnv, maskUrls } from '../../src/core/text/mask.ts';
import { isPlainCommand } from '../../src/exec/frame.ts';
import {
  attacksOn,
  filesWithConstructors,
  linearTime,
  type Pattern,
  patternsIn,
  textOf,
  timeToMatch,
  timeToRun,
  worstAttack,
} from '../support/patterns.ts';

/** The lengths of test texts, in characters. */
const SHORT_LENGTH = 2048;
const LONG_LENGTH = 200_000;
/** A pattern may take this many times as long as linearTime(). A quadratic pattern takes a thousand times as long. */
const FACTOR = 50;

/** Describes a pattern that is too slow. Returns null if it is linear. */
function problemOf({ where, regex }: Pattern): string | null {
  const limit = FACTOR * linearTime(SHORT_LENGTH);
  const worst = worstAttack(regex, attacksOn(regex), SHORT_LENGTH, limit);
  if (worst.time > limit) return `${where} ${regex} ${JSON.stringify(worst.attack)}`;
  const time = timeToMatch(regex, textOf(worst.attack, LONG_LENGTH), 3);
  return time > FACTOR * linearTime(LONG_LENGTH)
    ? `${where} ${regex} ${JSON.stringify(worst.attack)} at length`
    : null;
}

test('every regular expression of the program and of the dashboard is linear', () => {
  const patterns = patternsIn(['src', 'ui']);
  expect(patterns.length).toBeGreaterThan(150);
  expect(patterns.map(problemOf).filter((problem) => problem !== null)).toEqual([]);
});

test('the test above detects patterns that are not linear', () => {
  const bad = [
    /\s+$/,
    /(\d+(?:\.\d+)?)(ms|s)/g,
    /(?<=^|[\s"'?&;=({|,])(-{0,2})([a-z][\w.-]*)=(?=("[^"]*"|'[^']*'|[^\s"'&;|)<>]*))/gi,
    /\$\([\s\S]*\bcase\b/,
  ];
  expect(bad.filter((regex) => problemOf({ where: '', regex }) === null)).toEqual([]);
});

test('only three files build patterns from strings, which the tests above do not find', () => {
  // The pattern of the frame is tested below. Those of the others match names of files and columns.
  expect(filesWithConstructors(['src', 'ui']).sort()).toEqual([
    'src/exec/frame.ts',
    'src/state/output.ts',
    'src/store/schema/tables.ts',
  ]);
});

/** Functions that scan a text more than once, each with pieces whose repetition could make it start over again and again. */
const SCANNERS: [name: string, scan: (text: string) => unknown, pieces: string[]][] = [
  ['maskEnv', (text) => maskEnv({ URL: text }), ['=a', '&token=', 'old_', '?', '://a:']],
  ['maskUrls', maskUrls, ['://a:', '://:@', 'a://b:c@']],
  [
    'compileTemplate',
    (text) => ignoreErrors(() => compileTemplate(text)),
    ['#', ' #', '$(', '${', '{} ', '$(( '],
  ],
  ['errorSignature', errorSignature, ['"', "'", '/a', '0x', '1.', '… ', ' ']],
  ['isPlainCommand', (text) => isPlainCommand(text.slice(0, 4096)), ['a ', "a ''", 'a;', 'a && ', '  ']],
];

test.each(SCANNERS)('%s takes time in proportion to the text', (_, scan, pieces) => {
  const lengths = [SHORT_LENGTH, LONG_LENGTH] as const;
  const time = (piece: string, length: number): number => {
    const text = textOf({ prefix: 'token ', unit: piece, suffix: '' }, length);
    return timeToRun(() => scan(text), 3);
  };
  for (const piece of pieces) {
    const [short, long] = lengths.map((length) => time(piece, length));
    // The long text is 98 times as long as the short one. The limit is eight times what linear time needs.
    const maxTime = Math.max(8 * 98 * short!, FACTOR * linearTime(LONG_LENGTH));
    expect({ piece, linear: long! <= maxTime }).toEqual({ piece, linear: true });
  }
});

function ignoreErrors(act: () => unknown): void {
  try {
    act();
  } catch {
    // Only the time matters, so an error is also a valid result.
  }
}
