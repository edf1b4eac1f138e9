import type { Suggestion } from '../actions/suggest.ts';
import { entryOf } from '../core/entry-of.ts';
import { canonicalFlags } from './canonical-flags.ts';
import { type Command, type Flag, loadCommand } from './command.ts';
import { canonicalWords, NO_WORD } from './command-words.ts';
import { COMMANDS, isGroup } from './commands.ts';
import { argumentValues, type CompletionRequest, type Completions, flagValues } from './complete-values.ts';
import { GLOBAL_FLAGS } from './global-flags.ts';
import { cut, printable } from './text.ts';

const MAX_DESCRIPTION_WIDTH = 60;

/**
 * Returns the possible next words, one per line, each with a tab and a description. `:files` and `:dirs` tell the shell to
 * complete names of files or directories. The last of `words` is being typed. Never throws: a shell cannot show an error.
 */
export async function complete(words: string[], environment: NodeJS.ProcessEnv): Promise<string> {
  try {
    const current = words.at(-1) ?? '';
    const found = await suggest(words.slice(0, -1), current, environment);
    if (typeof found === 'string') return `${found}\n`;
    const fitting = found.filter(({ value }) => value.startsWith(current));
    return fitting
      .map(({ value, help }) => `${value}\t${cut(printable(help), MAX_DESCRIPTION_WIDTH)}\n`)
      .join('');
  } catch {
    return '';
  }
}

async function suggest(
  typed: string[],
  current: string,
  environment: NodeJS.ProcessEnv,
): Promise<Completions> {
  // Without the placeholder for the word being typed, a group such as `workers` would become `worker list`.
  const previousWords = canonicalWords([...typed, NO_WORD]).slice(0, -1);
  const request: CompletionRequest = { environment, previousWords };
  if (previousWords.at(-1) === '--db') return ':files';
  const names = plainWords(previousWords, GLOBAL_FLAGS);
  const isHelp = names[0] === 'help';
  if (isHelp) names.shift();
  const entry = entryOf(COMMANDS, names[0]);
  if (names.length === 0) {
    if (current.startsWith('-')) return flagSuggestions(GLOBAL_FLAGS, previousWords);
    return [...(await commandSuggestions(COMMANDS)), ...(isHelp ? await topicSuggestions() : [HELP])];
  }
  if (entry === undefined) return [];
  if (isGroup(entry) && names.length === 1 && !current.startsWith('-'))
    return commandSuggestions(entry.commands);
  if (isHelp) return [];
  const load = isGroup(entry) ? entryOf(entry.commands, names[1]) : entry;
  if (load === undefined) return [];
  return suggestFor(await loadCommand(load), previousWords, current, request);
}

const HELP: Suggestion = { value: 'help', help: 'Show help for a command or a topic' };

async function topicSuggestions(): Promise<Suggestion[]> {
  const { TOPICS } = await import('./topics.ts');
  return Object.entries(TOPICS).map(([value, { summary }]) => ({ value, help: summary }));
}

async function suggestFor(
  command: Command,
  typed: string[],
  current: string,
  baseRequest: CompletionRequest,
): Promise<Completions> {
  const previousWords = canonicalFlags(command, typed);
  const request = { ...baseRequest, command };
  const flags = { ...GLOBAL_FLAGS, ...command.flags };
  if (previousWords.includes('--')) return ':files';
  const flagName = flagAwaitingValue(flags, previousWords.at(-1));
  if (flagName !== null) return flagValues(flagName, flags[flagName]!, current, '', request);
  const equals = /^--([^=]+)=(.*)$/s.exec(current);
  if (equals !== null) {
    const [, name, value] = equals;
    const flag = flags[name!];
    return flag?.value === undefined ? [] : flagValues(name!, flag, value!, `--${name}=`, request);
  }
  if (current.startsWith('-')) return flagSuggestions(flags, previousWords);
  const at = plainWords(previousWords, flags).length - command.name.split(' ').length;
  return (await argumentValues(command, at, current, request)) ?? flagSuggestions(flags, previousWords);
}

/** Returns the name of the flag if `word` is a flag whose value is the next word, else null. */
function flagAwaitingValue(flags: Record<string, Flag>, word: string | undefined): string | null {
  const found = Object.entries(flags).find(
    ([name, flag]) =>
      flag.value !== undefined &&
      flag.bareValue === undefined &&
      (word === `--${name}` || word === `-${flag.short}`),
  );
  return found?.[0] ?? null;
}

/** Returns the words that are neither flags nor values of flags. */
function plainWords(words: string[], flags: Record<string, Flag>): string[] {
  return words.filter((word, i) => !word.startsWith('-') && flagAwaitingValue(flags, words[i - 1]) === null);
}

/** Suggests the flags that have not been given yet or can be repeated. */
function flagSuggestions(flags: Record<string, Flag>, previousWords: string[]): Suggestion[] {
  return Object.entries(flags)
    .filter(
      ([name, flag]) =>
        !flag.hidden &&
        ((flag.many && flag.bareValue === undefined) ||
          !previousWords.some((word) => word === `--${name}` || word.startsWith(`--${name}=`))),
    )
    .map(([name, flag]) => ({ value: `--${name}`, help: flag.help }));
}

async function commandSuggestions(entries: typeof COMMANDS): Promise<Suggestion[]> {
  return Promise.all(
    Object.entries(entries).map(async ([value, entry]) => ({
      value,
      help: isGroup(entry) ? entry.summary : (await entry()).default.summary,
    })),
  );
}
