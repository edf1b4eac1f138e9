/**
 * The filter of a list of jobs, with the field names of the API. The text in the filter bar is converted from and to it,
 * so that the URL, the bar, the request and the command line always agree.
 */
export type Filter = URLSearchParams;

export const FIELDS = [
  'state',
  'waiting_for',
  'queue',
  'name',
  'tag',
  'error',
  'exit-code',
  'older-than',
  'where',
  'search',
];

/** Maps the words before the colon to fields. */
const WORDS: Record<string, string> = {
  state: 'state',
  waiting: 'waiting_for',
  queue: 'queue',
  name: 'name',
  tag: 'tag',
  error: 'error',
  exit: 'exit-code',
  older: 'older-than',
};
const SHOWN = Object.fromEntries(Object.entries(WORDS).map(([word, field]) => [field, word]));
/** Maps the words of conditions such as `attempts:>3` to fields. */
const MEASURES: Record<string, string> = {
  attempts: 'attempts',
  crashes: 'crashes',
  prio: 'priority',
  dur: 'duration',
};
export const FACETS = [...Object.keys(WORDS), ...Object.keys(MEASURES)];

/** Matches the word that is being typed: the start of a facet, or a facet and the start of its value. */
const TYPED = /(?:[a-z]+:"[^"]*|\S*)$/i;

const MOST = 8;

/** Returns suggestions for the end of the text. `values` returns the values of a facet. */
export function offersFor(text: string, values: (facet: string) => string[]): string[] {
  const typed = TYPED.exec(text)![0];
  const at = typed.indexOf(':');
  const start = typed.toLowerCase();
  if (at < 0) return FACETS.filter((one) => one.startsWith(start)).map((one) => `${one}:`);
  const given = unquoted(`${start.slice(at + 1)}`).toLowerCase();
  return values(start.slice(0, at))
    .filter((one) => one.toLowerCase().includes(given) && one.toLowerCase() !== given)
    .slice(0, MOST)
    .map((one) => `${start.slice(0, at)}:${/[\s"]/.test(one) ? `"${one.replaceAll('"', '')}"` : one}`);
}

export const takeOffer = (text: string, offer: string): string => text.replace(TYPED, () => offer);

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
  return text.replace(/^"|"$/g, '');
}

/** Returns the filter as it is sent with a bulk action. */
export function filterBody(filter: Filter): Record<string, string | string[]> {
  const body: Record<string, string | string[]> = {};
  for (const field of new Set(filter.keys())) {
    const values = filter.getAll(field);
    body[field] = values.length === 1 ? values[0]! : values;
  }
  return body;
}
