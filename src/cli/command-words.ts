import { entryOf } from '../core/entry-of.ts';
import { COMMAND_ALIASES, GROUP_ALIASES, JOB_WORDS } from './aliases.ts';
import { COMMANDS, isGroup, UNLISTED } from './commands.ts';
import { wordIndex } from './find-command.ts';

/** Returns the target that has this word among its aliases. A search is cheaper than an index, which most commands would not use. */
function targetOf(table: Record<string, readonly string[]>, word: string): string | undefined {
  for (const target in table) if (table[target]!.includes(word)) return target;
  return undefined;
}

/** The maximum number of replacements. One may lead to another: `jobs rm` becomes `rm`, which becomes `delete`. */
const MAX_REPLACEMENTS = 4;
/** A placeholder for the next word, which is not known yet. No real argument can contain a NUL. */
export const NO_WORD = '\0';

/** Replaces other words for a command, such as `rm`, by the command itself. */
export function canonicalWords(args: string[]): string[] {
  let words = args;
  for (let step = 0; step < MAX_REPLACEMENTS; step++) {
    const next = replaceOnce(words);
    if (next === null) break;
    words = next;
  }
  return words;
}

function replaceOnce(args: string[]): string[] | null {
  const at = wordIndex(args);
  if (at === -1) return null;
  const word = args[at]!;
  const before = args.slice(0, at);
  const after = args.slice(at + 1);
  // Only the next word can be the command of a group, because a later one may be the value of a flag.
  const next = after[0];
  const pairTarget = targetOf(COMMAND_ALIASES, `${word} ${next}`);
  if (pairTarget !== undefined) return [...before, ...pairTarget.split(' '), ...after.slice(1)];
  const entry = entryOf(COMMANDS, word);
  if (entry !== undefined) {
    // `config --list` becomes `config list`.
    const flag = isGroup(entry) ? /^--([a-z-]+)$/.exec(next ?? '')?.[1] : undefined;
    return flag !== undefined && isGroupCommand(word, flag)
      ? [...before, word, flag, ...after.slice(1)]
      : null;
  }
  const target = targetOf(COMMAND_ALIASES, word);
  if (target !== undefined) return [...before, ...target.split(' '), ...after];
  const group = targetOf(GROUP_ALIASES, word);
  if (group !== undefined)
    return [...before, group, ...(wordIndex(args, at + 1) === -1 ? ['list'] : []), ...after];
  if (JOB_WORDS.includes(word)) return [...before, ...(isJobCommand(next) ? [] : ['list']), ...after];
  // `config:get` becomes `config get`, and `dlq-list` becomes `dlq list`.
  const [, prefix, verb] = /^([a-z]+)[:.-]([a-z-]+)$/.exec(word) ?? [];
  return prefix !== undefined && isGroupCommand(prefix, verb!) ? [...before, prefix, verb!, ...after] : null;
}

function isGroupCommand(group: string, verb: string): boolean {
  const entry = entryOf(COMMANDS, targetOf(GROUP_ALIASES, group) ?? group);
  if (entry === undefined || !isGroup(entry)) return false;
  return (
    entryOf(entry.commands, verb) !== undefined || targetOf(COMMAND_ALIASES, `${group} ${verb}`) !== undefined
  );
}

function isJobCommand(word: string | undefined): boolean {
  if (word === undefined) return false;
  const entry = entryOf(COMMANDS, word);
  return entry === undefined
    ? targetOf(COMMAND_ALIASES, word) !== undefined && entryOf(UNLISTED, word) === undefined
    : !isGroup(entry);
}
