import { signal } from '@preact/signals';

const KEY = 'queuectl-token';

/** Null: nobody gave us one yet. `refused`: the server does not take it. */
export const token = signal<string | null>(null);
export const refused = signal(false);

/** The token comes in the fragment, which no browser sends anywhere, and leaves the address bar at once. */
export function takeToken(): void {
  const given = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (given !== undefined) {
    history.replaceState(null, '', location.pathname + location.search);
    useToken(given);
  } else token.value ??= sessionStorage.getItem(KEY);
}

export function useToken(text: string): void {
  sessionStorage.setItem(KEY, text);
  refused.value = false;
  token.value = text;
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
  refused.value = true;
  token.value = null;
}
