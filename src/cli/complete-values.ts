import type { Suggestion } from '../actions/suggest.ts';
import { PRIORITIES, STATES } from '../core/job.ts';
import { END_SIGNALS } from '../core/signals.ts';
import { storeLocation } from '../store/location.ts';
import type { Command, Flag } from './command.ts';

/** Suggested values, or a request to the shell to complete file names. */
export type Values = Suggestion[] | ':files' | ':dirs';

export interface CompletionRequest {
  environment: NodeJS.ProcessEnv;
  /** The words before the one that is being typed. */
  before: string[];
  command?: Command;
}

type Source = (prefix: string, request: CompletionRequest, command: string) => Promise<Values> | Values;

const words = (...values: string[]): Suggestion[] => values.map((value) => ({ value, help: '' }));

/** Maps the placeholder of a value in the help to its source. */
const BY_PLACEHOLDER: Record<string, Source> = {
  ID: async (prefix, request, command) => {
    const { suggestJobs, suggestWorkers } = await import('../actions/suggest.ts');
    if (command === 'worker stop') return suggestWorkers(locationOf(request));
    return suggestJobs(locationOf(request), prefix, command.startsWith('dlq ') ? ['dead'] : []);
  },
  QUEUE: async (_, request, command) => {
    const { suggestQueues } = await import('../actions/suggest.ts');
    return suggestQueues(locationOf(request), command === 'queue resume');
  },
  /** Other commands have names, too, but only those of schedules have to exist. */
  NAME: async (_, request, command) => {
    if (!command.startsWith('schedule ') || command === 'schedule add') return [];
    const { suggestSchedules } = await import('../actions/suggest.ts');
    return suggestSchedules(locationOf(request), command === 'schedule resume');
  },
  STATE: () => words(...STATES),
  KEY: async () => {
    const { SETTING_KEYS, SETTINGS } = await import('../core/settings.ts');
    return SETTING_KEYS.map((value) => ({ value, help: SETTINGS[value].help }));
  },
  COMMAND: () => ':files',
  FILE: () => ':files',
  PATH: () => ':files',
  DIR: () => ':dirs',
};

/** Maps flags to sources where the placeholder is not specific enough. */
const BY_FLAG: Record<string, Source> = {
  state: BY_PLACEHOLDER.STATE!,
  queue: BY_PLACEHOLDER.QUEUE!,
  'set-queue': BY_PLACEHOLDER.QUEUE!,
  json: async (_, { command }) => {
    if (command?.prints === undefined) return [];
    return words(...(await import('./read-layout.ts')).fieldsOf(command), 'help');
  },
  format: async () => words(...(await import('./read-layout.ts')).FORMATS),
  signal: () => words(...END_SIGNALS.map((name) => name.slice(3))),
  color: () => words('auto', 'always', 'never'),
  priority: () => words(...PRIORITIES.keys()),
  range: async () => words(...Object.keys((await import('../core/figures.ts')).PERIODS)),
};

export async function flagValues(
  name: string,
  flag: Flag,
  typed: string,
  before: string,
  request: CompletionRequest,
): Promise<Values> {
  const placeholder = flag.value ?? '';
  const source = BY_FLAG[name] ?? sourceOf(placeholder);
  if (source === null) return [];
  // In a list, only the part after the last comma is being typed.
  const kept = placeholder.includes(',') ? typed.slice(0, typed.lastIndexOf(',') + 1) : '';
  const found = await source(typed.slice(kept.length), request, '');
  if (typeof found === 'string') return found;
  const chosen = kept.split(',');
  return found
    .filter(({ value }) => !chosen.includes(value))
    .map(({ value, help }) => ({ value: before + kept + value, help }));
}

/** Returns values for the argument at this position, or null if the command takes none there. */
export async function argumentValues(
  command: Command,
  at: number,
  typed: string,
  request: CompletionRequest,
): Promise<Values | null> {
  if (at >= command.most) return null;
  const places = command.args.split(/ \| | /).filter((place) => !place.startsWith('-'));
  const placeholder = places[Math.min(at, places.length - 1)] ?? '';
  return (await sourceOf(placeholder)?.(typed, request, command.name)) ?? [];
}

/** Finds the source for a placeholder: `[ID…]`, `ID[,ID]` and `ID` are the same, and `bash|zsh|fish` lists its values. */
function sourceOf(placeholder: string): Source | null {
  const choices = placeholder.split('|');
  if (choices.length > 1 && choices.every((choice) => /^[a-z-]+$/.test(choice)))
    return () => words(...choices);
  return BY_PLACEHOLDER[/[A-Z]+/.exec(placeholder)?.[0] ?? ''] ?? null;
}

function locationOf(request: CompletionRequest): string {
  return storeLocation(typedStore(request), request.environment);
}

/** Returns the --db that was typed, with ~ expanded, because the shell has not done it yet. */
function typedStore({ before, environment }: CompletionRequest): string | undefined {
  const at = before.lastIndexOf('--db');
  const path = at === -1 ? before.findLast((word) => word.startsWith('--db='))?.slice(5) : before[at + 1];
  return path?.replace(/^~(?=\/)/, environment.HOME ?? '~');
}
