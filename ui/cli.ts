import type { Filter } from './filter.ts';

/** The same thing on the command line: what the page does can be put into a script. */
export function quote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

export function command(...words: string[]): string {
  return ['queuectl', ...words.map(quote)].join(' ');
}

export function filterFlags(filter: Filter): string[] {
  return [...filter].flatMap(([field, value]) => [`--${field}`, value]);
}

export const listCommand = (filter: Filter): string => command('list', ...filterFlags(filter));

const MOST_IDS = 5;

export function actCommand(verb: string, on: { ids: string[] } | { filter: Filter }): string {
  if ('filter' in on) return command(verb, ...filterFlags(on.filter), '--yes');
  const shown = command(verb, ...on.ids.slice(0, MOST_IDS));
  return on.ids.length > MOST_IDS ? `${shown} …` : shown;
}
