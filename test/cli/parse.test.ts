import { describe, expect, test } from 'bun:test';
import { parseArgs } from 'node:util';
import type { Command } from '../../src/cli/frame/command.ts';
import { GLOBAL_FLAGS, parseInput } from '../../src/cli/frame/parse-flags.ts';
import { below, pick, seededRandom } from '../support/random.ts';

const COMMAND: Command = {
  name: 'try',
  summary: '',
  args: '',
  flags: {
    command: { value: 'TEXT', short: 'c', help: '' },
    tag: { value: 'TEXT', help: '', many: true },
    follow: { short: 'f', help: '' },
    wait: { help: '' },
  },
  examples: [],
  maxArguments: 99,
  async run() {
    return 0;
  },
};
const FLAGS = { ...GLOBAL_FLAGS, ...COMMAND.flags };
const OPTIONS = Object.fromEntries(
  Object.entries(FLAGS).map(([name, { value, many, short }]) => [
    name,
    {
      type: value === undefined ? ('boolean' as const) : ('string' as const),
      multiple: many ?? false,
      ...(short === undefined ? {} : { short }),
    },
  ]),
);

/** Words that cover every way of writing a flag, and some that are not flags. */
const WORDS =
  `--command --command=x --command= -c -cx -c=x -fc -fcx --tag --tag=a=b --tag= --wait --wait=1 -f -qf -fq -q
  --json --json=id --db --db=y --no-wait --comand --constructor -x -fx - word = --=x a=b`.split(/\s+/);

type ParseResult = { args: string[]; flags: [string, string[]][] } | 'refused';

function parseWithQueuectl(args: string[]): ParseResult {
  try {
    const input = parseInput(COMMAND, args);
    const given = Object.keys(FLAGS).filter((name) => input.has(name));
    return { args: input.args, flags: given.map((name) => [name, input.all(name)]) };
  } catch {
    return 'refused';
  }
}

function parseWithNode(given: string[]): ParseResult {
  // parseArgs does not support a flag with an optional value.
  const args = given.map((arg) => (arg === '--json' ? '--json=' : arg));
  try {
    const parsed = parseArgs({ args, options: OPTIONS, allowPositionals: true, strict: true, tokens: true });
    const seen = new Set<string>();
    for (const token of parsed.tokens) {
      if (token.kind !== 'option' || FLAGS[token.name]?.many || FLAGS[token.name]?.value === undefined)
        continue;
      if (seen.has(token.name)) return 'refused';
      seen.add(token.name);
    }
    const found = Object.keys(FLAGS).filter((name) => parsed.values[name] !== undefined);
    const values = (name: string): string[] =>
      FLAGS[name]!.value === undefined ? [] : ([parsed.values[name]].flat() as string[]);
    return { args: parsed.positionals, flags: found.map((name) => [name, values(name)]) };
  } catch {
    return 'refused';
  }
}

describe('arguments', () => {
  test('are parsed as by parseArgs of node:util', () => {
    const random = seededRandom('parse');
    let accepted = 0;
    for (let round = 0; round < 5000; round++) {
      const args = Array.from({ length: below(random, 4) }, () => pick(random, WORDS));
      const answer = parseWithQueuectl(args);
      if (answer !== 'refused') accepted++;
      expect([args, answer]).toEqual([args, parseWithNode(args)]);
    }
    expect(accepted).toBeGreaterThan(1000);
  });

  test('can be negative numbers, which are not read as flags', () => {
    expect(parseWithQueuectl(['-5', '--tag', '-3'])).toEqual({ args: ['-5'], flags: [['tag', ['-3']]] });
  });

  const REFUSED: [args: string[], message: string][] = [
    [['--comand', 'x'], "unknown flag '--comand'; did you mean --command?"],
    [['-fx'], "unknown flag '-x'"],
    [['--command'], '--command requires a value (TEXT)'],
    [['-c', '--wait'], '--command requires a value (TEXT)'],
    [['--wait=1'], '--wait takes no value'],
    [['-cx', '--command=y'], '--command can only be given once'],
  ];
  for (const [args, message] of REFUSED)
    test(`${args.join(' ')} are refused: ${message}`, () => {
      expect(() => parseInput(COMMAND, args)).toThrow(message);
    });
});
