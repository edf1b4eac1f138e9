import { signal } from '@preact/signals';

/** A named list of jobs. Its query holds everything about it. */
export interface View {
  name: string;
  query: string;
}

const KEY = 'queuectl-views';
export const MOST_VIEWS = 20;

export const views = signal<View[]>(stored());

function stored(): View[] {
  try {
    const found: View[] = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return found.filter(({ name, query }) => typeof name === 'string' && typeof query === 'string');
  } catch {
    return [];
  }
}

function keep(next: View[]): void {
  views.value = next.slice(0, MOST_VIEWS);
  localStorage.setItem(KEY, JSON.stringify(views.value));
}

/** Saves a view, replacing one with the same name. */
export function saveView(name: string, query: string): void {
  keep([...views.value.filter((one) => one.name !== name), { name, query }]);
}

export function dropView(name: string): void {
  keep(views.value.filter((one) => one.name !== name));
}

/** Returns a link that includes the name, so that the receiver can save the view under the same name. */
export function hrefOf({ name, query }: View): string {
  const address = new URLSearchParams(query);
  address.set('view', name);
  return `/jobs?${address}`;
}
