import { entryOf } from '../core/entry-of.ts';
import { QueueError, usageError } from '../core/errors.ts';
import { nearest } from '../core/nearest.ts';
import { shellWord } from '../core/shell-quote.ts';
import { COMMAND_ALIASES, COMMAND_HINTS, GROUP_EXAMPLES } from './aliases.ts';
import { canonicalWords, NO_WORD } from './command-words.ts';
import { COMMANDS, type CommandGroup, DESTRUCTIVE, isGroup, UNLISTED } from './commands.ts';
import { asksForHelp, commandOrHelp, type FoundCommand, wordIndex } from './find-command.ts';
import type { Block } from './help-page.ts';
import { GUARD_PROCESS, WORKER_PROCESS } from './internal-commands.ts';

/** Finds any command, also by another word for it. Returns the same as `findCommand`. */
export async function findAnyCommand(given: string[]): Promise<FoundCommand | Block[] | string> {
  const args = canonicalWords(given);
  const at = wordIndex(args);
  if (at === -1) return helpOrVersion(args);
  const name = args[at]!;
  const rest = [...args.slice(0, at), ...args.slice(at + 1)];
  if (name === 'help') return helpFor(rest);
  if (name === WORKER_PROCESS)
    return { command: (await import('./commands/worker-process.ts')).default, args: rest };
  if (name === GUARD_PROCESS)
    return { command: (await import('./commands/guard-process.ts')).default, args: rest };
  const entry = entryOf(COMMANDS, name) ?? entryOf(UNLISTED, name);
  if (entry === undefined) {
    const { similarTopic } = await import('./topics.ts');
    const topic = similarTopic(name);
    const hint = topic === null ? HELP_HINT : `to read about this topic: queuectl help ${topic}`;
    throw unknownCommandError(name, Object.keys(COMMANDS), hint);
  }
  return isGroup(entry) ? findInGroup(name, entry, rest) : commandOrHelp(entry, rest);
}

async function helpOrVersion(args: string[]): Promise<Block[] | string> {
  if (args.includes('--version') || args.includes('-V')) {
    const { VERSION } = await import('../core/version.ts');
    return args.includes('--json') ? `${JSON.stringify({ version: VERSION })}\n` : `${VERSION}\n`;
  }
  const { SHORT_HELP, fullHelp } = await import('./help.ts');
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
    return (await import('./help.ts')).groupHelp(name, group);
  const verbs = Object.keys(group.commands);
  const setting = name === 'config' ? (await import('./setting-hint.ts')).settingHint(rest) : undefined;
  // A word after a flag may be its value, so it is not reported as an unknown command.
  if (flag !== undefined && (at === -1 || rest.indexOf(flag) < at))
    throw usageError(
      `${name} requires a command: ${verbs.join(', ')}`,
      setting ?? `for example: queuectl ${[GROUP_EXAMPLES[name]!, ...rest.map(shellWord)].join(' ')}`,
    );
  throw unknownCommandError(
    `${name} ${rest[at]}`,
    verbs.map((verb) => `${name} ${verb}`),
    setting ?? `to list the commands: queuectl ${name}`,
  );
}

function isGlobalFlag(arg: string): boolean {
  return /^(--(json|quiet|db|color|no-color|no-pager)(=.*)?|-q)$/.test(arg);
}

const HELP_HINT = 'to list all commands and topics: queuectl help';

async function helpFor(words: string[]): Promise<Block[]> {
  const help = await import('./help.ts');
  const { TOPICS, similarTopic } = await import('./topics.ts');
  const names = words.filter(
    (word, i) => !word.startsWith('-') && !/^--(db|color)$/.test(words[i - 1] ?? ''),
  );
  if (names.length === 0) return help.fullHelp();
  const topic = names.length === 1 ? entryOf(TOPICS, names[0]) : undefined;
  if (topic !== undefined && entryOf(COMMANDS, names[0]) === undefined) return topic.page();
  // Without the placeholder for the next word, a group such as `workers` would become `worker list`.
  const canonical = canonicalWords([...names, NO_WORD]).slice(0, -1);
  const [first] = canonical;
  if (entryOf(COMMANDS, first) === undefined && entryOf(UNLISTED, first) === undefined && first !== 'help')
    throw unknownTopicError(names[0]!, similarTopic(names[0]!));
  const found = await findAnyCommand(canonical);
  if (typeof found === 'string') return [found];
  const extra = Array.isArray(found) ? undefined : found.args.find((arg) => !arg.startsWith('-'));
  if (extra !== undefined) throw usageError(`help: unexpected argument '${extra}'`, HELP_HINT);
  if (!Array.isArray(found)) await found.command.loadDetails?.();
  const page = Array.isArray(found) ? found : help.commandHelp(found.command);
  return topic === undefined ? page : [...page, ...topic.page()];
}

function unknownTopicError(name: string, topic: string | null): QueueError {
  const guess = topic ?? similarCommand(name, Object.keys(COMMANDS));
  const meant = guess === null ? '' : `; did you mean '${guess}'?`;
  return new QueueError('unknown-command', `unknown command or topic '${name}'${meant}`, HELP_HINT);
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

/** Returns the command that a word stands for. */
function commandOf(word: string): string {
  const found = Object.entries(COMMAND_ALIASES).find(([, aliases]) => aliases.includes(word));
  return found === undefined ? word : found[0].split(' --')[0]!;
}

/** Returns the shortest word that an incomplete name of at least three letters begins. */
function beginningWith(name: string, words: string[]): string | null {
  if (name.split(' ').at(-1)!.length < 3) return null;
  const longer = words.filter((word) => word.startsWith(name.toLowerCase()));
  return longer.sort((a, b) => a.length - b.length)[0] ?? null;
}
