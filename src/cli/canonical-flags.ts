import { QueueError, usageError } from '../core/errors.ts';
import { shellWord } from '../core/shell-quote.ts';
import { ARGUMENT_FLAGS, FLAG_ALIASES, IGNORED_FLAGS } from './aliases.ts';
import type { Command, Flag } from './command.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';
import { kebab } from './kebab.ts';

type Flags = Record<string, Flag>;

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
  const end = args.indexOf('--');
  const ownArgs = end === -1 ? args : args.slice(0, end);
  if (ownArgs.every((arg) => !arg.startsWith('-') || needsNoChange(arg, flags))) return args;
  const result: string[] = [];
  for (let i = 0; i < ownArgs.length; i++) {
    const arg = ownArgs[i]!;
    const [typed, inline] = splitFlag(arg);
    const flag = arg.startsWith('-') && !needsNoChange(arg, flags) ? findFlag(typed, flags) : null;
    if (/^--no-colou?r$/.test(typed) && inline === undefined) result.push('--color=never');
    else if (flag === 'tag' && /s$/.test(typed)) {
      const value = inline ?? ownArgs[++i];
      result.push(...(value === undefined ? ['--tag'] : tagFlags(value)));
    } else if (flag !== null) result.push(inline === undefined ? `--${flag}` : `--${flag}=${inline}`);
    else if (inline === undefined && isIgnored(typed, command)) continue;
    else if (isArgumentFlag(typed, command, flags)) result.push(inline ?? ownArgs[++i] ?? arg);
    else result.push(arg);
  }
  return [...result, ...(end === -1 ? [] : args.slice(end))];
}

function splitFlag(arg: string): [typed: string, inline: string | undefined] {
  const at = arg.startsWith('--') ? arg.indexOf('=') : -1;
  return at === -1 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}

/**
 * Returns true for a flag that needs no replacement, for combined letters such as `-qf`, and for an argument such as `-5`
 * that is not a flag. Throws if a long flag has only one dash.
 */
function needsNoChange(arg: string, flags: Flags): boolean {
  if (arg.startsWith('--')) return Object.hasOwn(flags, splitFlag(arg)[0].slice(2));
  if (!/^-[a-z]/i.test(arg)) return true;
  refuseSingleDash(arg, flags);
  return arg.length > 2 || Object.values(flags).some((flag) => flag.short === arg[1]);
}

/** Throws if a long flag has only one dash, because `-count 3` would be read as `-c ount`. */
function refuseSingleDash(arg: string, flags: Flags): void {
  const [name] = splitFlag(`-${arg}`);
  const found =
    arg.length > 3 ? (hasFlag(name.slice(2), flags) ? name.slice(2) : findFlag(name, flags)) : null;
  if (found !== null)
    throw new QueueError('unknown-flag', `unknown flag '${arg.split('=')[0]}'; did you mean --${found}?`);
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

function isIgnored(typed: string, { name }: Command): boolean {
  return typed.startsWith('-') && (IGNORED_FLAGS[name]?.includes(kebab(typed.replace(/^-+/, ''))) ?? false);
}

function isArgumentFlag(typed: string, command: Command, flags: Flags): boolean {
  const name = kebab(typed.slice(2));
  return typed.startsWith('--') && !hasFlag(name, flags) && argumentFlags(command).includes(name);
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
