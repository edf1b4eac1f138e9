import { invalidValue, QueueError, usageError } from '../../core/errors.ts';
import { kebab } from '../../core/jobs/field.ts';
import { STATE_ALIASES } from '../../core/jobs/job.ts';
import { removedFlag } from '../../core/jobs/removed-names.ts';
import { entryOf } from '../../core/text/language.ts';
import { nearest } from '../../core/text/nearest.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import type { Layout } from '../print/layout.ts';
import { ARGUMENT_FLAGS, FLAG_ALIASES, IGNORED_FLAGS } from './aliases.ts';
import type { Command, Flag, Input } from './command.ts';
import { createIo, type Io } from './io.ts';
import { checkedInput, isFlag, splitAtDashes } from './parse.ts';

type Flags = Record<string, Flag>;

/** Parses the arguments of a command by its table of flags. Throws if the command does not take them. */
export function parseInput(command: Command, args: string[]): Input {
  const [own, rest] = splitAtDashes(args);
  const flags: Flags = { ...GLOBAL_FLAGS, ...command.flags };
  const help = `for help: queuectl help ${command.name}`;
  const values = new Map<string, string[]>();
  const words: string[] = [];
  const flagArgs: string[] = [];
  for (let i = 0; i < own.length; i++) {
    const arg = own[i]!;
    if (!isFlag(arg)) {
      words.push(arg);
      continue;
    }
    const start = i;
    for (const { name, typed, inline } of splitArgument(arg, flags)) {
      const flag = name === undefined ? undefined : flags[name];
      if (name === undefined || flag === undefined)
        throw unknownFlagError(typed, flags, command, own, i, words[0]);
      const given = values.get(name) ?? [];
      if (flag.value === undefined) {
        if (inline !== undefined) throw usageError(`--${name} takes no value`, help);
      } else {
        if (given.length > 0 && !flag.many) throw usageError(`--${name} can only be given once`, help);
        const ownValue = inline ?? flag.bareValue;
        const value = ownValue ?? own[++i];
        if (value === undefined || (ownValue === undefined && isFlag(value)))
          throw usageError(`--${name} requires a value (${flag.value})`, help);
        given.push(value);
      }
      values.set(name, given);
    }
    flagArgs.push(...own.slice(start, i + 1));
  }
  return checkedInput(command, { words, rest, values, flagArgs });
}

interface ParsedFlag {
  /** The long name. Undefined if no such flag exists. */
  name: string | undefined;
  /** The flag as it was typed, without a value. */
  typed: string;
  /** The value, if it is in the same argument. */
  inline: string | undefined;
}

/** Splits an argument into flags: `--name`, `--name=value`, or letters such as `-q`, `-qf` or `-cVALUE`. */
function splitArgument(arg: string, flags: Flags): ParsedFlag[] {
  if (arg.startsWith('--')) {
    const [typed, inline] = splitFlag(arg);
    const name = Object.hasOwn(flags, typed.slice(2)) ? typed.slice(2) : undefined;
    return [{ name, typed, inline }];
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
  flags: Flags,
  command: Command,
  args: string[],
  at: number,
  firstWord: string | undefined,
): QueueError {
  const help = `for help: queuectl help ${command.name}`;
  const message = `unknown flag '${typed}'`;
  const name = kebab(typed.replace(/^-+/, ''));
  const removed = typed.startsWith('--')
    ? removedFlag(name, splitFlag(args[at]!)[1] ?? args[at + 1], flags)
    : null;
  if (removed !== null) return new QueueError('unknown-flag', removed.message, removed.hint);
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
function flagHint(name: string, flags: Flags, command: string): string | undefined {
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
function similarFlag(name: string, flags: Flags): string | null {
  const names = Object.keys(flags).filter((flag) => !flags[flag]!.hidden);
  const isPart = (flag: string): boolean => name.endsWith(`-${flag}`) || name.startsWith(`${flag}-`);
  return nearest(name, names) ?? names.find((flag) => flag.length > 2 && isPart(flag)) ?? null;
}

/** Hints for flags that a command does not have, by the name of the command. */
const FLAG_HINTS: Record<string, Record<string, string>> = {
  list: {
    waiting:
      'to list the waiting jobs: queuectl list --state pending; to list them by reason: --waiting-for REASON',
    sort: "lists are sorted by age; to sort by a column: queuectl list --format '{priority}\\t{id}' | sort -n",
    since:
      'to list old jobs: queuectl list --older-than 1h; to list what happened: queuectl events --since 1h',
  },
};

/** Returns the other names of a flag, except those that are themselves names of flags of the command. */
export function aliasesOf(name: string, flags: Flags): string[] {
  const all = [...(flags[name]?.aliases?.() ?? []), ...(FLAG_ALIASES[name] ?? [])];
  return [...new Set(all)].filter((alias) => !hasFlag(alias, flags));
}

/** Returns the flags that a user may put in front of an argument of this command, such as `--id` in `--id job1`. */
export function argumentFlags({ args, flags }: Command): string[] {
  return Object.entries(ARGUMENT_FLAGS)
    .filter(([placeholder]) => [' ', '(', '['].some((start) => ` ${args}`.includes(start + placeholder)))
    .flatMap(([, names]) => names.filter((name) => !hasFlag(name, flags)));
}

/**
 * Replaces other names of flags, such as `--max_retries` or `--daemon`, by the names that the parser knows. Drops flags
 * without an effect, and replaces `--id job1` by `job1` if the command takes an id. Unknown flags are left to the parser.
 */
export function canonicalFlags(command: Command, args: string[]): string[] {
  const flags: Flags = { ...GLOBAL_FLAGS, ...command.flags };
  const [own] = splitAtDashes(args);
  const result: string[] = [];
  for (let i = 0; i < own.length; i++) {
    const arg = own[i]!;
    if (!arg.startsWith('-')) {
      result.push(arg);
      continue;
    }
    const [typed, inline] = splitFlag(arg);
    const name = kebab(typed.replace(/^-+/, ''));
    const flag = needsNoChange(arg, flags) ? null : findFlag(typed, flags);
    if (/^--no-colou?r$/.test(typed) && inline === undefined) result.push('--color=never');
    else if (flag === 'tag' && /s$/.test(typed)) {
      const value = inline ?? own[++i];
      result.push(...(value === undefined ? ['--tag'] : tagFlags(value)));
    } else if (flag !== null) result.push(inline === undefined ? `--${flag}` : `--${flag}=${inline}`);
    else if (inline === undefined && IGNORED_FLAGS[command.name]?.includes(name)) continue;
    else if (typed.startsWith('--') && !hasFlag(name, flags) && argumentFlags(command).includes(name))
      result.push(inline ?? own[++i] ?? arg);
    else result.push(arg);
  }
  return [...result, ...args.slice(own.length)];
}

function splitFlag(arg: string): [typed: string, inline: string | undefined] {
  const at = arg.startsWith('--') ? arg.indexOf('=') : -1;
  return at === -1 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}

/**
 * Returns true for a flag that needs no replacement, for combined letters such as `-qf`, and for an argument such as `-5`
 * that is not a flag. Throws if a long flag has only one dash, because `-count 3` would be read as `-c ount`.
 */
function needsNoChange(arg: string, flags: Flags): boolean {
  if (arg.startsWith('--')) return Object.hasOwn(flags, splitFlag(arg)[0].slice(2));
  if (!/^-[a-z]/i.test(arg)) return true;
  const meant = arg.length > 3 ? findFlag(splitFlag(`-${arg}`)[0], flags) : null;
  if (meant !== null)
    throw new QueueError('unknown-flag', `unknown flag '${arg.split('=')[0]}'; did you mean --${meant}?`);
  return arg.length > 2 || Object.values(flags).some((flag) => flag.short === arg[1]);
}

/** Returns the flag that `typed` is another spelling of, or null. */
function findFlag(typed: string, flags: Flags): string | null {
  const name = kebab(typed.replace(/^-+/, ''));
  const isShort = !typed.startsWith('--');
  if (!isShort && hasFlag(name, flags)) return name;
  const fits = (flag: string): boolean =>
    aliasesOf(flag, flags).some((alias) => alias === name && (alias.length === 1) === isShort);
  return Object.keys(flags).find(fits) ?? null;
}

function hasFlag(name: string, flags: Flags): boolean {
  if (name.length === 1) return Object.values(flags).some((flag) => flag.short === name);
  return Object.hasOwn(flags, name);
}

/** Returns the flags that `--tags a,b=1` stands for: `--tag=a=` and `--tag=b=1`. Throws if a comma may be part of a value. */
function tagFlags(text: string): string[] {
  const tags = text.split(',');
  const unclear = tags.findIndex((tag, i) => !tag.includes('=') && tags[i - 1]?.includes('='));
  if (unclear > 0)
    throw usageError(
      `--tags: '${tags[unclear]}' may be another tag or a part of the value of '${tags[unclear - 1]}'`,
      `repeat --tag instead: --tag ${shellWord(`${tags[unclear - 1]},${tags[unclear]}`)}, or --tag ${shellWord(tags[unclear - 1]!)} --tag ${shellWord(`${tags[unclear]}=`)}`,
    );
  return tags.map((tag) => `--tag=${tag.includes('=') ? tag : `${tag}=`}`);
}

/** Creates the output that the flags ask for. */
export function ioOf(input: Input, environment: NodeJS.ProcessEnv, layout?: Layout): Io {
  const json = input.has('json') || layout?.format === 'json' || layout?.format === 'jsonl';
  return createIo({ json, quiet: input.has('quiet'), color: readColor(input), environment, layout });
}

function readColor(input: Input): 'auto' | 'always' | 'never' {
  const color = input.one('color') ?? 'auto';
  if (color === 'auto' || color === 'always' || color === 'never') return color;
  throw invalidValue(`--color must be auto, always or never, not '${color}'`);
}

/** Prints what a flag asks for instead of the command: the help, the version or the list of fields. Tells whether one did. */
export async function answerFlags(
  io: Io,
  command: Command,
  input: Input,
  args: string[],
  environment: NodeJS.ProcessEnv,
): Promise<boolean> {
  if (input.has('help')) {
    const { commandHelp } = await import('../help/help.ts');
    await (await import('../help/help-page.ts')).showHelp(commandHelp(command), args, environment);
  } else if (input.has('version')) io.out(`${(await import('../../core/version.ts')).VERSION}\n`);
  else if (input.all('json').includes('help'))
    io.out(`${(await import('../print/read-layout.ts')).fieldsOf(command).join('\n')}\n`);
  else return false;
  return true;
}

/** Reads the flags for the output format. Returns undefined if there is none. */
export async function layoutOf(command: Command, input: Input): Promise<Layout | undefined> {
  const isGiven =
    ['format', 'time', 'utc', 'header', 'wide'].some(input.has) || input.all('json').some(Boolean);
  return isGiven ? (await import('../print/read-layout.ts')).readLayout(command, input) : undefined;
}

/** The flags that all commands have. */
export const GLOBAL_FLAGS: Record<string, Flag> = {
  db: {
    value: 'PATH',
    help: 'database file or PostgreSQL URL (default: $QUEUECTL_DB or ~/.queuectl/queue.db)',
  },
  json: {
    value: 'FIELD,…',
    bareValue: '',
    many: true,
    help: 'print JSON, optionally with only these fields (--json=help lists all fields)',
  },
  quiet: { short: 'q', help: 'suppress notes and warnings; print only ids in lists and after enqueue' },
  'store-timeout': {
    value: 'DURATION',
    help: 'time to wait for a database server (default: $QUEUECTL_STORE_TIMEOUT or 30s)',
  },
  color: { value: 'WHEN', help: 'when to use colors: auto, always or never (default: auto)' },
  'no-pager': { help: 'do not show help in a pager' },
  help: { short: 'h', help: 'show help' },
  version: { short: 'V', help: 'show the version' },
};
