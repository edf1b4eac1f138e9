import type { Suggestion } from '../actions/suggest.ts';
import { PRIORITIES, STATES } from '../core/job.ts';
import { END_SIGNALS } from '../core/signals.ts';
import { WAITING_REASONS } from '../core/waiting-reason.ts';
import { storeLocation } from '../store/location.ts';
import type { Command, Flag } from './command.ts';

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
  ID: async (prefix, request, command) => {
    const { suggestJobs, suggestWorkers } = await import('../actions/suggest.ts');
    if (command === 'worker stop') return suggestWorkers(locationOf(request));
    return suggestJobs(locationOf(request), prefix, command.startsWith('dlq ') ? ['dead'] : []);
  },
  QUEUE: async (_, request, command) => {
    const { suggestQueues } = await import('../actions/suggest.ts');
    return suggestQueues(locationOf(request), command === 'queue resume');
  },
  /** Only the commands for schedules, except `schedule add`, take a name that already exists. */
  NAME: async (_, request, command) => {
    if (!command.startsWith('schedule ') || command === 'schedule add') return [];
    const { suggestSchedules } = await import('../actions/suggest.ts');
    return suggestSchedules(locationOf(request), command === 'schedule resume');
  },
  STATE: () => toSuggestions(...STATES),
  KEY: async () => {
    const { SETTING_KEYS, SETTINGS } = await import('../core/settings.ts');
    return SETTING_KEYS.map((value) => ({ value, help: SETTINGS[value].help }));
  },
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
    return toSuggestions(...(await import('./read-layout.ts')).fieldsOf(command), 'help');
  },
  format: async () => toSuggestions(...(await import('./read-layout.ts')).FORMATS),
  signal: () => toSuggestions(...END_SIGNALS.map((name) => name.slice(3))),
  color: () => toSuggestions('auto', 'always', 'never'),
  priority: () => toSuggestions(...PRIORITIES.keys()),
  range: async () => toSuggestions(...Object.keys((await import('../core/figures.ts')).PERIODS)),
};

/** Returns values for a flag. `start`, such as `--state=`, is put in front of each, because it is part of the same word. */
export async function flagValues(
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
export async function argumentValues(
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
