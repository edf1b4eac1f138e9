/**
 * The filter of a list of jobs: in the address under the API's own names, in the bar as a person types it. The two say
 * the same, so that a link, the bar, the request and the command line cannot differ.
 */
export type Filter = URLSearchParams;

export const FIELDS = [
  'state',
  'queue',
  'name',
  'tag',
  'error',
  'exit-code',
  'older-than',
  'where',
  'search',
];

/** What is typed before the colon. */
const WORDS: Record<string, string> = {
  ...{ state: 'state', queue: 'queue', name: 'name', tag: 'tag', error: 'error', exit: 'exit-code' },
  older: 'older-than',
};
const SHOWN = Object.fromEntries(Object.entries(WORDS).map(([word, field]) => [field, word]));
/** Written as conditions: `attempts:>3`. */
const MEASURES: Record<string, string> = {
  ...{ attempts: 'attempts', crashes: 'crashes', prio: 'priority', dur: 'duration' },
};
export const FACETS = [...Object.keys(WORDS), ...Object.keys(MEASURES)];

export function filterOf(query: URLSearchParams): Filter {
  const filter = new URLSearchParams();
  for (const field of FIELDS)
    for (const value of query.getAll(field)) if (value !== '') filter.append(field, value);
  return filter;
}

const TOKEN = /([a-z]+):("[^"]*"|\S+)|"[^"]*"|\S+/gi;

export function parseFilter(text: string): Filter {
  const filter = new URLSearchParams();
  const words: string[] = [];
  const where: string[] = [];
  for (const [token, facet, raw] of text.matchAll(TOKEN)) {
    const value = unquoted(raw ?? '');
    const field = WORDS[facet?.toLowerCase() ?? ''];
    const measure = MEASURES[facet?.toLowerCase() ?? ''];
    if (field !== undefined) filter.append(field, value);
    else if (measure !== undefined) where.push(`${measure}${/^[<>=!]/.test(value) ? '' : '='}${value}`);
    else words.push(unquoted(token));
  }
  if (where.length > 0) filter.set('where', where.join(','));
  if (words.length > 0) filter.set('search', words.join(' '));
  return filter;
}

export function writeFilter(filter: Filter): string {
  const parts: string[] = [];
  for (const [field, value] of filter) {
    if (field === 'search') parts.push(value);
    else if (field === 'where') parts.push(...value.split(',').map(writeCondition));
    else parts.push(`${SHOWN[field]}:${/[\s"]/.test(value) ? `"${value}"` : value}`);
  }
  return parts.join(' ');
}

function writeCondition(text: string): string {
  const [, field, rest] = /^([a-z_]+)(.*)$/.exec(text) ?? [];
  const word = Object.entries(MEASURES).find(([, name]) => name === field)?.[0];
  return word === undefined ? text : `${word}:${rest}`;
}

function unquoted(text: string): string {
  return text.startsWith('"') ? text.slice(1, -1) : text;
}

/** The body of an operation on all that match. */
export function filterBody(filter: Filter): Record<string, string | string[]> {
  const body: Record<string, string | string[]> = {};
  for (const field of new Set(filter.keys())) {
    const values = filter.getAll(field);
    body[field] = values.length === 1 ? values[0]! : values;
  }
  return body;
}
