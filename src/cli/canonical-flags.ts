import { QueueError } from '../core/errors.ts';
import { ARGUMENT_FLAGS, DEFAULT_FLAGS, FLAG_ALIASES } from './aliases.ts';
import { type Command, type Flag, GLOBAL_FLAGS } from './command.ts';

type Flags = Record<string, Flag>;

/** Returns the other names of a flag, as far as no flag of the command has them. */
export function aliasesOf(name: string, flags: Flags): string[] {
  const all = [...(flags[name]?.aliases ?? []), ...(FLAG_ALIASES[name] ?? [])];
  return [...new Set(all)].filter((alias) => !isOwn(alias, flags));
}

/** Returns the flags whose value is an argument of this command. */
export function argumentFlags({ args, flags }: Command): string[] {
  return Object.entries(ARGUMENT_FLAGS)
    .filter(([placeholder]) => [' ', '(', '['].some((before) => ` ${args}`.includes(before + placeholder)))
    .flatMap(([, names]) => names.filter((name) => !isOwn(name, flags)));
}

/**
 * Replaces other names of flags by the names that the command knows: `--max_retries`, `--retries`, `--daemon`. Arguments
 * without such flags are returned as they are. Unknown flags are left to the parser.
 */
export function canonicalFlags(command: Command, args: string[]): string[] {
  const flags: Flags = { ...GLOBAL_FLAGS, ...command.flags };
  const end = args.indexOf('--');
  const before = end === -1 ? args : args.slice(0, end);
  if (before.every((arg) => !arg.startsWith('-') || isKnown(arg, flags))) return args;
  const result: string[] = [];
  for (let i = 0; i < before.length; i++) {
    const arg = before[i]!;
    const [typed, inline] = splitFlag(arg);
    const found = arg.startsWith('-') && !isKnown(arg, flags) ? findFlag(typed, flags) : null;
    if (found === 'tag' && /s$/.test(typed)) {
      const value = inline ?? before[++i];
      result.push(...(value === undefined ? ['--tag'] : tagFlags(value)));
    } else if (found !== null) result.push(inline === undefined ? `--${found}` : `--${found}=${inline}`);
    else if (inline === undefined && isDefault(typed, command)) continue;
    else if (isArgument(typed, command, flags)) result.push(inline ?? before[++i] ?? arg);
    else result.push(arg);
  }
  return [...result, ...(end === -1 ? [] : args.slice(end))];
}

function splitFlag(arg: string): [typed: string, inline: string | undefined] {
  const at = arg.startsWith('--') ? arg.indexOf('=') : -1;
  return at === -1 ? [arg, undefined] : [arg.slice(0, at), arg.slice(at + 1)];
}

/** True for a flag that the parser understands, and for anything that only looks like one. */
function isKnown(arg: string, flags: Flags): boolean {
  if (arg.startsWith('--')) return Object.hasOwn(flags, splitFlag(arg)[0].slice(2));
  if (!/^-[a-z]/i.test(arg)) return true;
  refuseSingleDash(arg, flags);
  return arg.length > 2 || Object.values(flags).some((flag) => flag.short === arg[1]);
}

/** `-count 3` would be read as `-c ount`. */
function refuseSingleDash(arg: string, flags: Flags): void {
  const [name] = splitFlag(`-${arg}`);
  const found = arg.length > 3 ? (isOwn(name.slice(2), flags) ? name.slice(2) : findFlag(name, flags)) : null;
  if (found !== null)
    throw new QueueError('unknown-flag', `unknown flag '${arg.split('=')[0]}'; did you mean --${found}?`);
}

function findFlag(typed: string, flags: Flags): string | null {
  const name = kebab(typed.replace(/^-+/, ''));
  const isShort = !typed.startsWith('--');
  if (!isShort && isOwn(name, flags)) return name;
  const fits = (flag: string): boolean =>
    aliasesOf(flag, flags).some((alias) => alias === name && (alias.length === 1) === isShort);
  return Object.keys(flags).find(fits) ?? null;
}

function isOwn(name: string, flags: Flags): boolean {
  if (name.length === 1) return Object.values(flags).some((flag) => flag.short === name);
  return Object.hasOwn(flags, name);
}

function isDefault(typed: string, { name }: Command): boolean {
  return typed.startsWith('-') && (DEFAULT_FLAGS[name]?.includes(kebab(typed.replace(/^-+/, ''))) ?? false);
}

function isArgument(typed: string, command: Command, flags: Flags): boolean {
  const name = kebab(typed.slice(2));
  return typed.startsWith('--') && !isOwn(name, flags) && argumentFlags(command).includes(name);
}

/** `--tags a,b=1` gives the tags `a` and `b`. A tag without a value has an empty one. */
function tagFlags(text: string): string[] {
  return text.split(',').map((tag) => `--tag=${tag.includes('=') ? tag : `${tag}=`}`);
}

function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll('_', '-');
}
