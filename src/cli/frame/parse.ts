import { usageError } from '../../core/errors.ts';
import type { Command, Input } from './command.ts';

/** Returns the arguments before `--`, and those after it, which belong to a job, or null without `--`. */
export function splitAtDashes(args: string[]): [own: string[], rest: string[] | null] {
  const end = args.indexOf('--');
  return end === -1 ? [args, null] : [args.slice(0, end), args.slice(end + 1)];
}

/** Tells whether one of the arguments before `--` is a flag. */
export function hasFlags(args: string[]): boolean {
  for (const arg of args) {
    if (arg === '--') return false;
    if (isFlag(arg)) return true;
  }
  return false;
}

/** Returns true for a flag. A single dash is an argument that stands for standard input, and `-5` is a number. */
export function isFlag(arg: string): boolean {
  return arg.startsWith('-') && arg.length > 1 && !(arg[1]! >= '0' && arg[1]! <= '9');
}

/** Parses the arguments of a command if none of them is a flag. Throws if the command does not take them. */
export function parseWords(command: Command, args: string[]): Input {
  const [words, rest] = splitAtDashes(args);
  return checkedInput(command, { words, rest, values: new Map(), flagArgs: [] });
}

/** Throws if an argument was not valid UTF-8. The runtime has already replaced it, so the command would not be the one that was typed. */
export function checkUtf8(args: string[]): void {
  for (const arg of args)
    if (arg.includes('\ufffd'))
      throw usageError(`'${arg}' is not valid UTF-8`, 'put it in a script and enqueue the script');
}

export interface ParsedArguments {
  words: string[];
  rest: string[] | null;
  values: Map<string, string[]>;
  /** The flags and their values, as they were typed. */
  flagArgs: string[];
}

/** Returns the arguments as the input of a command. Throws if the command does not take them. */
export function checkedInput(command: Command, parsed: ParsedArguments): Input {
  const { words, rest, values } = parsed;
  checkArguments(command, parsed);
  return {
    args: words,
    rest,
    has: (flag) => values.has(flag),
    hasNoFlags: values.size === 0,
    one(flag) {
      const given = values.get(flag) ?? [];
      return given[given.length - 1];
    },
    all: (flag) => values.get(flag) ?? [],
    required(at, what, example) {
      const value = words[at];
      if (!value) throw usageError(`${what} is missing`, example);
      return value;
    },
  };
}

function checkArguments(command: Command, { words, rest, flagArgs }: ParsedArguments): void {
  const help = `for help: queuectl help ${command.name}`;
  if (words.length > command.maxArguments)
    throw usageError(
      `${command.name}: unexpected argument '${words[command.maxArguments]}'`,
      command.usageHint?.(words, flagArgs) ?? help,
    );
  if (rest !== null && !command.takesRest && rest.length > 0)
    throw usageError(`${command.name}: unexpected argument '${rest[0]}'`, help);
}
