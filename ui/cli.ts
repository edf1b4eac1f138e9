import type { Filter } from './filter.ts';
import { mounted } from './mount.ts';

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

/** The same call of the API, for what the command line cannot say. */
export function postCommand(path: string, body: object): string {
  const url = quote(location.origin + mounted(`/api/v1${path}`));
  const type = "-H 'Content-Type: application/json'";
  return `curl -H "Authorization: Bearer $TOKEN" ${type} -d ${quote(JSON.stringify(body))} ${url}`;
}

const MOST_IDS = 5;

export function actCommand(
  verb: string,
  on: { ids: string[] } | { filter: Filter },
  flags: string[] = [],
): string {
  if ('filter' in on) return command(verb, ...filterFlags(on.filter), '--yes', ...flags);
  const shown = command(verb, ...flags, ...on.ids.slice(0, MOST_IDS));
  return on.ids.length > MOST_IDS ? `${shown} …` : shown;
}
