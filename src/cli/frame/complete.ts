import {
  type Suggestion,
  suggestJobs,
  suggestQueues,
  suggestSchedules,
  suggestWorkers,
} from '../../actions/completions.ts';
import { PRIORITIES, STATES } from '../../core/jobs/job.ts';
import { WAITING_REASONS } from '../../core/jobs/waiting-reason.ts';
import { PERIODS } from '../../core/rules/figures.ts';
import { SETTING_KEYS, SETTINGS } from '../../core/settings/settings.ts';
import { END_SIGNALS } from '../../core/signals.ts';
import { entryOf } from '../../core/text/language.ts';
import { storeLocation } from '../../store/location.ts';
import { cut, printable } from '../print/text.ts';
import { type Command, type Flag, loadCommand } from './command.ts';
import { COMMANDS, isGroup } from './commands.ts';
import { canonicalWords, NO_WORD } from './find-any-command.ts';
import { canonicalFlags, GLOBAL_FLAGS } from './parse-flags.ts';

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
    const commands = await commandSuggestions(COMMANDS);
    if (!isHelp) return [...commands, { value: 'help', help: 'Show help for a command or a topic' }];
    const { TOPICS } = await import('../help/help.ts');
    return [...commands, ...Object.entries(TOPICS).map(([value, { summary }]) => ({ value, help: summary }))];
  }
  if (entry === undefined) return [];
  if (isGroup(entry) && names.length === 1 && !current.startsWith('-'))
    return commandSuggestions(entry.commands);
  if (isHelp) return [];
  const load = isGroup(entry) ? entryOf(entry.commands, names[1]) : entry;
  if (load === undefined) return [];
  return suggestFor(await loadCommand(load), previousWords, current, request);
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

/** Suggested words, or a request to the shell to complete the names of files or directories. */
export type Completions = Suggestion[] | ':files' | ':dirs';

export interface CompletionRequest {
  environment: NodeJS.ProcessEnv;
  /** The words before the one that is being typed, with aliases of commands replaced. */
  previousWords: string[];
  command?: Command;
}

type ValueSource = (
  prefix: string,
  request: CompletionRequest,
  command: string,
) => Promise<Completions> | Completions;

const toSuggestions = (...values: string[]): Suggestion[] => values.map((value) => ({ value, help: '' }));

/** Maps a placeholder in the help to the source of its values. */
const SOURCE_BY_PLACEHOLDER: Record<string, ValueSource> = {
  ID: (prefix, request, command) =>
    command === 'worker stop'
      ? suggestWorkers(locationOf(request))
      : suggestJobs(locationOf(request), prefix, command.startsWith('dlq ') ? ['dead'] : []),
  QUEUE: (_, request, command) => suggestQueues(locationOf(request), command === 'queue resume'),
  /** Only the commands for schedules, except `schedule add`, take a name that already exists. */
  NAME: (_, request, command) =>
    command.startsWith('schedule ') && command !== 'schedule add'
      ? suggestSchedules(locationOf(request), command === 'schedule resume')
      : [],
  STATE: () => toSuggestions(...STATES),
  KEY: () => SETTING_KEYS.map((value) => ({ value, help: SETTINGS[value].help })),
  COMMAND: () => ':files',
  FILE: () => ':files',
  PATH: () => ':files',
  DIR: () => ':dirs',
};

/** Maps flags whose placeholder is not specific enough to the source of their values. */
const SOURCE_BY_FLAG: Record<string, ValueSource> = {
  state: SOURCE_BY_PLACEHOLDER.STATE!,
  'waiting-for': () => toSuggestions(...WAITING_REASONS),
  queue: SOURCE_BY_PLACEHOLDER.QUEUE!,
  'set-queue': SOURCE_BY_PLACEHOLDER.QUEUE!,
  json: async (_, { command }) => {
    if (command?.prints === undefined) return [];
    return toSuggestions(...(await import('../print/read-layout.ts')).fieldsOf(command), 'help');
  },
  format: async () => toSuggestions(...(await import('../print/read-layout.ts')).FORMATS),
  signal: () => toSuggestions(...END_SIGNALS.map((name) => name.slice(3))),
  color: () => toSuggestions('auto', 'always', 'never'),
  priority: () => toSuggestions(...PRIORITIES.keys()),
  range: () => toSuggestions(...Object.keys(PERIODS)),
};

/** Returns values for a flag. `start`, such as `--state=`, is put in front of each, because it is part of the same word. */
async function flagValues(
  name: string,
  flag: Flag,
  typed: string,
  start: string,
  request: CompletionRequest,
): Promise<Completions> {
  const placeholder = flag.value ?? '';
  const source = SOURCE_BY_FLAG[name] ?? sourceOf(placeholder);
  if (source === null) return [];
  // In a list, only the part after the last comma is being typed.
  const listStart = placeholder.includes(',') ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const found = await source(typed.slice(listStart.length), request, '');
  if (typeof found === 'string') return found;
  const chosen = listStart.split(',');
  return found
    .filter(({ value }) => !chosen.includes(value))
    .map(({ value, help }) => ({ value: start + listStart + value, help }));
}

/** Returns values for the argument at this position, or null if the command takes none there. */
async function argumentValues(
  command: Command,
  at: number,
  typed: string,
  request: CompletionRequest,
): Promise<Completions | null> {
  if (at >= command.maxArguments) return null;
  const placeholders = command.args.split(/ \| | /).filter((word) => !word.startsWith('-'));
  const placeholder = placeholders[Math.min(at, placeholders.length - 1)] ?? '';
  return (await sourceOf(placeholder)?.(typed, request, command.name)) ?? [];
}

/** Finds the source of values for a placeholder. `[ID…]` has the same source as `ID`. `bash|zsh|fish` lists its values. */
function sourceOf(placeholder: string): ValueSource | null {
  const choices = placeholder.split('|');
  if (choices.length > 1 && choices.every((choice) => /^[a-z-]+$/.test(choice)))
    return () => toSuggestions(...choices);
  return SOURCE_BY_PLACEHOLDER[/[A-Z]+/.exec(placeholder)?.[0] ?? ''] ?? null;
}

/** Returns the path of the store. Expands ~/ in the value of --db that was typed, because the shell has not done it yet. */
function locationOf({ previousWords, environment }: CompletionRequest): string {
  const at = previousWords.lastIndexOf('--db');
  const path =
    at === -1 ? previousWords.findLast((word) => word.startsWith('--db='))?.slice(5) : previousWords[at + 1];
  return storeLocation(path?.replace(/^~(?=\/)/, environment.HOME ?? '~'), environment);
}
