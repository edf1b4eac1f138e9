import { signal } from '@preact/signals';
import { mounted, unmounted } from './mount.ts';

export interface Place {
  path: string;
  query: URLSearchParams;
  hash: string;
}

const here = (): Place => ({
  path: unmounted(location.pathname),
  query: new URLSearchParams(location.search),
  hash: location.hash,
});

/** The current URL. It holds the whole state of a page, so that reload, back and a shared link show the same. */
export const place = signal<Place>(here());

const moved = (): void => {
  place.value = here();
};

export function startRouter(): void {
  addEventListener('popstate', moved);
  addEventListener('hashchange', moved);
  addEventListener('click', (event) => {
    const link = (event.target as Element).closest?.('a');
    const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !plain || link.target || link.hasAttribute('download')) return;
    if (!link.href.startsWith(`${location.origin}${mounted('/')}`)) return;
    event.preventDefault();
    go(unmounted(link.pathname) + link.search + link.hash);
  });
}

export function go(url: string, how: 'push' | 'replace' = 'push'): void {
  const before = location.pathname;
  if (how === 'push') history.pushState(null, '', mounted(url));
  else history.replaceState(null, '', mounted(url));
  moved();
  if (location.pathname !== before) scrollTo(0, 0);
}

/** Returns the first page of jobs with another filter. Columns and sort order stay. */
export function listHref(filter: URLSearchParams): string {
  const query = new URLSearchParams(filter);
  for (const field of ['columns', 'sort']) {
    const value = place.value.query.get(field);
    if (value !== null) query.set(field, value);
  }
  const text = query.toString();
  return text === '' ? '/jobs' : `/jobs?${text}`;
}

/** Returns the current page with changes to its query. Null removes a field. */
export function withQuery(changes: Record<string, string | null>): string {
  const query = new URLSearchParams(place.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  return place.value.path + (text === '' ? '' : `?${text}`);
}
