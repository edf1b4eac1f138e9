import { QueueError, usageError } from '../../core/errors.ts';
import { entryOf } from '../../core/text/language.ts';
import { nearest } from '../../core/text/nearest.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import type { Block } from '../help/help-page.ts';
import { COMMAND_ALIASES, COMMAND_HINTS, GROUP_ALIASES, GROUP_EXAMPLES, JOB_WORDS } from './aliases.ts';
import { COMMANDS, type CommandGroup, DESTRUCTIVE, isGroup, UNLISTED } from './commands.ts';
import { asksForHelp, commandOrHelp, type FoundCommand, wordIndex } from './find-command.ts';

/** Finds any command, also by another word for it. Returns the same as `findCommand`. */
export async function findAnyCommand(given: string[]): Promise<FoundCommand | Block[] | string> {
  const args = canonicalWords(given);
  const at = wordIndex(args);
  if (at === -1) return helpOrVersion(args);
  const name = args[at]!;
  const rest = [...args.slice(0, at), ...args.slice(at + 1)];
  if (name === 'help') return helpFor(rest);
  const entry = entryOf(COMMANDS, name) ?? entryOf(UNLISTED, name);
  if (entry === undefined) {
    const { similarTopic } = await import('../help/help.ts');
    const topic = similarTopic(name);
    const hint = topic === null ? HELP_HINT : `to read about this topic: queuectl help ${shellWord(topic)}`;
    throw unknownCommandError(name, Object.keys(COMMANDS), hint);
  }
  return isGroup(entry) ? findInGroup(name, entry, rest) : commandOrHelp(entry, rest);
}

async function helpOrVersion(args: string[]): Promise<Block[] | string> {
  if (args.includes('--version') || args.includes('-V')) {
    const { VERSION } = await import('../../core/version.ts');
    return args.includes('--json') ? `${JSON.stringify({ version: VERSION })}\n` : `${VERSION}\n`;
  }
  const { SHORT_HELP, fullHelp } = await import('../help/help.ts');
  if (asksForHelp(args)) return fullHelp();
  const stray = args.find((arg) => arg.startsWith('-') && !isGlobalFlag(arg));
  if (stray === undefined) return SHORT_HELP;
  const hint = stray === '-v' ? 'to print the version: queuectl --version' : HELP_HINT;
  throw new QueueError('unknown-flag', `unknown flag '${stray}'`, hint);
}

async function findInGroup(
  name: string,
  group: CommandGroup,
  rest: string[],
): Promise<FoundCommand | Block[]> {
  const at = wordIndex(rest);
  const load = entryOf(group.commands, rest[at]);
  if (load !== undefined) return commandOrHelp(load, [...rest.slice(0, at), ...rest.slice(at + 1)]);
  const flag = rest.find((arg) => arg.startsWith('-') && !isGlobalFlag(arg));
  if (at === -1 && (flag === undefined || asksForHelp(rest)))
    return (await import('../help/help.ts')).groupHelp(name, group);
  const verbs = Object.keys(group.commands);
  const setting = name === 'config' ? (await import('../commands/config.ts')).settingHint(rest) : undefined;
  // A word after a flag may be its value, so it is not reported as an unknown command.
  if (flag !== undefined && (at === -1 || rest.indexOf(flag) < at))
    throw usageError(
      `${name} requires a command: ${verbs.join(', ')}`,
      setting ?? `for example: queuectl ${[GROUP_EXAMPLES[name]!, ...rest.map(shellWord)].join(' ')}`,
    );
  throw unknownCommandError(
    `${name} ${rest[at]}`,
    verbs.map((verb) => `${name} ${verb}`),
    setting ?? `to list the commands: queuectl ${shellWord(name)}`,
  );
}

function isGlobalFlag(arg: string): boolean {
  return /^(--(json|quiet|db|color|no-color|no-pager)(=.*)?|-q)$/.test(arg);
}

const HELP_HINT = 'to list all commands and topics: queuectl help';

async function helpFor(words: string[]): Promise<Block[]> {
  const { commandHelp, fullHelp, similarTopic, TOPICS, topicPage } = await import('../help/help.ts');
  const names = words.filter(
    (word, i) => !word.startsWith('-') && !/^--(db|color)$/.test(words[i - 1] ?? ''),
  );
  if (names.length === 0) return fullHelp();
  const isTopic = names.length === 1 && entryOf(TOPICS, names[0]) !== undefined;
  if (isTopic && entryOf(COMMANDS, names[0]) === undefined) return topicPage(names[0]!);
  // Without the placeholder for the next word, a group such as `workers` would become `worker list`.
  const canonical = canonicalWords([...names, NO_WORD]).slice(0, -1);
  const [first] = canonical;
  if (entryOf(COMMANDS, first) === undefined && entryOf(UNLISTED, first) === undefined && first !== 'help') {
    const guess = similarTopic(names[0]!) ?? similarCommand(names[0]!, Object.keys(COMMANDS));
    const meant = guess === null ? '' : `; did you mean '${guess}'?`;
    throw new QueueError('unknown-command', `unknown command or topic '${names[0]}'${meant}`, HELP_HINT);
  }
  const found = await findAnyCommand(canonical);
  if (typeof found === 'string') return [found];
  const extra = Array.isArray(found) ? undefined : found.args.find((arg) => !arg.startsWith('-'));
  if (extra !== undefined) throw usageError(`help: unexpected argument '${extra}'`, HELP_HINT);
  if (!Array.isArray(found)) await found.command.loadDetails?.();
  const page = Array.isArray(found) ? found : commandHelp(found.command);
  return isTopic ? [...page, ...(await topicPage(names[0]!))] : page;
}

function unknownCommandError(name: string, known: string[], hint: string): QueueError {
  const guess = similarCommand(name, known);
  const ownHint = entryOf(COMMAND_HINTS, name) ?? entryOf(COMMAND_HINTS, guess ?? undefined);
  const meant = guess === null || ownHint !== undefined ? '' : `; did you mean '${guess}'?`;
  return new QueueError('unknown-command', `unknown command '${name}'${meant}`, ownHint ?? hint);
}

/**
 * Returns the command that was probably meant, another word for it, or a word with a hint. Returns null if none is similar. A
 * destructive command is suggested only for a single typing error, so that nobody runs it for a harmless word.
 */
function similarCommand(name: string, commands: string[]): string | null {
  const words = [...commands, ...otherWords(name)];
  const commandOf = (word: string): string => (targetOf(COMMAND_ALIASES, word) ?? word).split(' --')[0]!;
  const safe = words.filter((word) => !DESTRUCTIVE.has(commandOf(word)));
  return (
    beginningWith(name, safe) ?? nearest(name, safe, 1) ?? nearest(name, words, 1) ?? nearest(name, safe)
  );
}

/** Returns the aliases and the words with a hint that consist of as many words, and are in the same group. */
function otherWords(name: string): string[] {
  const group = name.includes(' ') ? `${name.split(' ')[0]} ` : '';
  return [...Object.values(COMMAND_ALIASES).flat(), ...Object.keys(COMMAND_HINTS)].filter(
    (word) => word.startsWith(group) && word.split(' ').length === name.split(' ').length,
  );
}

/** Returns the shortest word that an incomplete name of at least three letters begins. */
function beginningWith(name: string, words: string[]): string | null {
  if (name.split(' ').at(-1)!.length < 3) return null;
  const longer = words.filter((word) => word.startsWith(name.toLowerCase()));
  return longer.sort((a, b) => a.length - b.length)[0] ?? null;
}

/** Returns the target that has this word among its aliases. */
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
