import { parseArgs } from 'node:util';
import { QueueError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import { type Command, type Flag, GLOBAL_FLAGS, type Input } from './command.ts';

/** Hides the sign of a negative number from the parser, which would take it for a flag. No argument can hold a NUL. */
const SHIELD = '\0';

/** Reads a command's arguments by its table. Unknown flags are errors everywhere. */
export function parseInput(command: Command, args: string[]): Input {
  const flags: Record<string, Flag> = { ...GLOBAL_FLAGS, ...command.flags };
  const broken = args.find((arg) => arg.includes('\ufffd'));
  // The runtime has replaced what is not UTF-8 by now: what would run is not what was typed.
  if (broken !== undefined)
    throw new QueueError('usage', `'${broken}' is not valid UTF-8`, 'put it in a script, and enqueue that');
  const end = args.indexOf('--');
  const before = (end === -1 ? args : args.slice(0, end)).map((arg) => {
    const bare = arg.startsWith('--') ? flags[arg.slice(2)]?.bare : undefined;
    if (bare !== undefined) return `${arg}=${bare}`;
    return /^-\d/.test(arg) ? SHIELD + arg : arg;
  });
  const { values, positionals } = parse(command, flags, before);
  const plain = (text: string): string => (text.startsWith(SHIELD) ? text.slice(1) : text);
  const all = (flag: string): string[] => [values[flag] ?? []].flat().map((value) => plain(String(value)));
  const input: Input = {
    args: positionals.map(plain),
    rest: end === -1 ? null : args.slice(end + 1),
    has: (flag) => values[flag] !== undefined,
    one: (flag) => all(flag).at(-1),
    all,
  };
  checkArguments(command, input);
  return input;
}

function parse(command: Command, flags: Record<string, Flag>, args: string[]) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, flag]) => [
      name,
      {
        type: flag.value === undefined ? ('boolean' as const) : ('string' as const),
        multiple: flag.many ?? false,
        ...(flag.short === undefined ? {} : { short: flag.short }),
      },
    ]),
  );
  try {
    const parsed = parseArgs({ args, options, allowPositionals: true, strict: true, tokens: true });
    refuseTwice(command, flags, parsed.tokens);
    return parsed;
  } catch (error) {
    throw error instanceof QueueError
      ? error
      : explain(command, flags, args, error as Error & { code?: string });
  }
}

function refuseTwice(
  command: Command,
  flags: Record<string, Flag>,
  tokens: { kind: string; name?: string }[],
): void {
  const seen = new Set<string>();
  for (const { kind, name } of tokens) {
    if (kind !== 'option' || name === undefined || flags[name]?.many || flags[name]?.value === undefined)
      continue;
    if (seen.has(name))
      throw new QueueError('usage', `--${name} is given twice`, `queuectl help ${command.name}`);
    seen.add(name);
  }
}

function explain(
  command: Command,
  flags: Record<string, Flag>,
  args: string[],
  error: Error & { code?: string },
): Error {
  const help = `queuectl help ${command.name}`;
  if (error.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
    const name = /'(--?[^' =]+)/.exec(error.message)?.[1] ?? args.find((arg) => arg.startsWith('-')) ?? '';
    const guess = nearest(name.replace(/^-+/, ''), Object.keys(flags));
    return new QueueError(
      'unknown-flag',
      `unknown flag '${name}'${guess === null ? '' : `; did you mean --${guess}?`}`,
      help,
    );
  }
  if (error.code === 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE') {
    const name = /'(?:-\w, )?(--[\w-]+)/.exec(error.message)?.[1] ?? 'a flag';
    const flag = flags[name.slice(2)];
    const problem = flag?.value === undefined ? 'takes no value' : `needs a value (${flag.value})`;
    return new QueueError('usage', `${name} ${problem}`, help);
  }
  return error;
}

function checkArguments(command: Command, input: Input): void {
  const help = `queuectl help ${command.name}`;
  if (input.args.length > command.most) {
    const hint =
      command.name === 'enqueue'
        ? "quote the command: queuectl enqueue 'echo hello', or: queuectl enqueue -- echo hello"
        : help;
    throw new QueueError('usage', `${command.name}: unexpected argument '${input.args[command.most]}'`, hint);
  }
  if (input.rest !== null && !command.rest && input.rest.length > 0) {
    throw new QueueError('usage', `${command.name}: unexpected argument '${input.rest[0]}'`, help);
  }
}
