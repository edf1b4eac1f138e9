import { entryOf } from '../core/entry-of.ts';
import { QueueError, usageError } from '../core/errors.ts';
import { STATE_ALIASES } from '../core/job.ts';
import { nearest } from '../core/nearest.ts';
import type { Command, Flag, Input } from './command.ts';
import { FLAG_HINTS } from './flag-hints.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';
import { checkedInput, checkUtf8, isFlag } from './parse.ts';

/** A prefix for negative numbers, which would look like flags. No real argument can contain a NUL. */
const NUMBER_PREFIX = '\0';

/** Parses the arguments of a command by its table of flags. Throws if the command does not take them. */
export function parseInput(command: Command, args: string[]): Input {
  checkUtf8(args);
  const end = args.indexOf('--');
  const flags: Record<string, Flag> = { ...GLOBAL_FLAGS, ...command.flags };
  const ownArgs = (end === -1 ? args : args.slice(0, end)).map((arg) => {
    const bareValue = arg.startsWith('--') ? flags[arg.slice(2)]?.bareValue : undefined;
    if (bareValue !== undefined) return `${arg}=${bareValue}`;
    return /^-\d/.test(arg) ? NUMBER_PREFIX + arg : arg;
  });
  const { values, positionals, flagArgs } = parseFlags(command, flags, ownArgs);
  return checkedInput(command, {
    words: positionals.map(withoutPrefix),
    rest: restOf(args),
    values: new Map([...values].map(([flag, given]) => [flag, given.map(withoutPrefix)])),
    flagArgs: flagArgs.map(withoutPrefix),
  });
}

/** Removes NUMBER_PREFIX. */
const withoutPrefix = (text: string): string => (text.startsWith(NUMBER_PREFIX) ? text.slice(1) : text);

/** Parses flags without the parser of the runtime, because loading it takes longer than opening the store. */
function parseFlags(command: Command, flags: Record<string, Flag>, args: string[]) {
  const help = `for help: queuectl help ${command.name}`;
  const values = new Map<string, string[]>();
  const positionals: string[] = [];
  /** The flags and their values, as they were typed. */
  const flagArgs: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (!isFlag(arg)) {
      positionals.push(arg);
      continue;
    }
    const start = i;
    for (const { name, typed, inline } of splitArgument(arg, flags)) {
      const flag = name === undefined ? undefined : flags[name];
      if (name === undefined || flag === undefined)
        throw unknownFlagError(typed, flags, command, args.map(withoutPrefix), i, positionals[0]);
      const given = values.get(name) ?? [];
      if (flag.value === undefined) {
        if (inline !== undefined) throw usageError(`--${name} takes no value`, help);
      } else {
        if (given.length > 0 && !flag.many) throw usageError(`--${name} can only be given once`, help);
        const value = inline ?? args[++i];
        if (value === undefined || (inline === undefined && isFlag(value)))
          throw usageError(`--${name} requires a value (${flag.value})`, help);
        given.push(value);
      }
      values.set(name, given);
    }
    flagArgs.push(...args.slice(start, i + 1));
  }
  return { values, positionals, flagArgs };
}

interface ParsedFlag {
  /** The long name. Undefined if no such flag exists. */
  name: string | undefined;
  /** The flag as it was typed, without a value. */
  typed: string;
  /** The value, if it is in the same argument. */
  inline?: string | undefined;
}

/** Splits an argument into flags: `--name`, `--name=value`, or letters such as `-q`, `-qf` or `-cVALUE`. */
function splitArgument(arg: string, flags: Record<string, Flag>): ParsedFlag[] {
  if (arg.startsWith('--')) {
    const at = arg.indexOf('=');
    const typed = at === -1 ? arg : arg.slice(0, at);
    const name = Object.hasOwn(flags, typed.slice(2)) ? typed.slice(2) : undefined;
    return [{ name, typed, inline: at === -1 ? undefined : arg.slice(at + 1) }];
  }
  const parts: ParsedFlag[] = [];
  for (let i = 1; i < arg.length; i++) {
    const name = Object.keys(flags).find((key) => flags[key]!.short === arg[i]);
    const takesRest = name !== undefined && flags[name]!.value !== undefined && i + 1 < arg.length;
    parts.push({ name, typed: `-${arg[i]}`, inline: takesRest ? arg.slice(i + 1) : undefined });
    if (takesRest) break;
  }
  return parts;
}

function unknownFlagError(
  typed: string,
  flags: Record<string, Flag>,
  command: Command,
  args: string[],
  at: number,
  firstWord: string | undefined,
): QueueError {
  const help = `for help: queuectl help ${command.name}`;
  const message = `unknown flag '${typed}'`;
  const name = typed.replace(/^-+/, '').toLowerCase().replaceAll('_', '-');
  const hint = typed.startsWith('--') ? flagHint(name, flags, command.name) : undefined;
  if (hint !== undefined) return new QueueError('unknown-flag', message, hint);
  const guess = typed.startsWith('--') ? similarFlag(name, flags) : null;
  // A flag that resembles one of queuectl is hardly a flag of the command to run.
  if (guess !== null) return new QueueError('unknown-flag', `${message}; did you mean --${guess}?`, help);
  // The words before the flag belong to the command to run.
  const start = firstWord === undefined ? at : args.lastIndexOf(firstWord, at);
  const usage = command.usageHint?.(args.slice(start), args.slice(0, start));
  return new QueueError('unknown-flag', message, usage ?? help);
}

/** Returns a hint for a flag that this command does not have, or that is a value of one of its flags. */
function flagHint(name: string, flags: Record<string, Flag>, command: string): string | undefined {
  const hint = entryOf(entryOf(FLAG_HINTS, command) ?? {}, name);
  if (hint !== undefined) return hint;
  const wanted = STATE_ALIASES.get(name) ?? name;
  for (const flag in flags) {
    const value = flags[flag]!.values?.find((one) => one.replaceAll('_', '-') === wanted);
    if (value !== undefined) return `use --${flag} ${value}`;
  }
  return undefined;
}

/** Returns the flag that was probably meant: one with few typing errors, or one that is a part of the name. */
function similarFlag(name: string, flags: Record<string, Flag>): string | null {
  const names = Object.keys(flags).filter((flag) => !flags[flag]!.hidden);
  const isPart = (flag: string): boolean => name.endsWith(`-${flag}`) || name.startsWith(`${flag}-`);
  return nearest(name, names) ?? names.find((flag) => flag.length > 2 && isPart(flag)) ?? null;
}

/** Returns the arguments after `--`, or null without `--`. */
function restOf(args: string[]): string[] | null {
  const end = args.indexOf('--');
  return end === -1 ? null : args.slice(end + 1);
}
