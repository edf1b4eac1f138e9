import { shellWord } from '../../src/core/text/shell-quote.ts';
import type { Filter } from '../jobs/filter.ts';
import { apiOrigin, mounted } from './mount.ts';

export function command(...words: string[]): string {
  return ['queuectl', ...words.map(shellWord)].join(' ');
}

export function filterFlags(filter: Filter): string[] {
  return [...filter].flatMap(([field, value]) => {
    const flag = `--${field.replaceAll('_', '-')}`;
    return value.startsWith('-') ? [`${flag}=${value}`] : [flag, value];
  });
}

export const listCommand = (filter: Filter): string => command('list', ...filterFlags(filter));

/** Returns a curl command that sends the same request, for actions that the command line does not have. */
export function postCommand(path: string, body: object): string {
  const url = shellWord(apiOrigin() + mounted(`/api/v1${path}`));
  const type = "-H 'Content-Type: application/json'";
  return `curl -H "Authorization: Bearer $TOKEN" ${type} -d ${shellWord(JSON.stringify(body))} ${url}`;
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
