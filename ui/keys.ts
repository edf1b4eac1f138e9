import { useLayoutEffect } from 'preact/hooks';
import { EMPTY } from './draft.ts';
import { paused } from './live.ts';
import { draft, helpOpen, paletteOpen } from './overlays.ts';
import { go } from './router.ts';
import { readOnly, toggleUtc } from './store.ts';
import { nextTheme } from './theme.ts';

type Handler = () => void;

const pageKeys: Record<string, Handler>[] = [];
const GO: Record<string, string> = {
  o: '/',
  j: '/jobs',
  d: '/dlq',
  q: '/queues',
  s: '/schedules',
  w: '/workers',
  m: '/stats',
  a: '/activity',
};

/** Adds keyboard shortcuts while the component is shown. */
export function useKeys(keys: Record<string, Handler>): void {
  // The shortcuts change before the next key, so that a key acts on what is shown.
  useLayoutEffect(() => {
    pageKeys.push(keys);
    return () => {
      pageKeys.splice(pageKeys.indexOf(keys), 1);
    };
  });
}

const EVERYWHERE: Record<string, Handler> = {
  '?': () => {
    helpOpen.value = true;
  },
  t: nextTheme,
  u: toggleUtc,
  '.': () => {
    paused.value = !paused.value;
  },
  n: () => {
    if (!readOnly.value) draft.value = EMPTY;
  },
  j: () => step(1),
  k: () => step(-1),
  x: () => rowBox()?.click(),
  '/': () => (document.querySelector<HTMLElement>('[data-search]') ?? openPalette())?.focus(),
};

function openPalette(): null {
  paletteOpen.value = true;
  return null;
}

/** Returns the row that has the focus, so that a key acts on the row that a screen reader announces. */
export const focusedRow = (): string | null =>
  document.activeElement?.closest<HTMLElement>('[data-row]')?.dataset.row ?? null;

const rowBox = (): HTMLInputElement | null | undefined =>
  document.activeElement?.closest('[data-row]')?.querySelector<HTMLInputElement>('input[type=checkbox]');

function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by];
  next?.querySelector<HTMLElement>('a, button, input')?.focus();
}

let afterG = false;

export function startKeys(): void {
  addEventListener('keydown', (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      paletteOpen.value = !paletteOpen.value;
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    // An open dialog has its own keys.
    if (document.querySelector('dialog[open]') !== null) return;
    const run = handlerOf(event.key);
    if (run === null) return;
    event.preventDefault();
    run();
  });
}

function handlerOf(key: string): Handler | null {
  if (afterG) {
    afterG = false;
    const to = GO[key];
    if (to !== undefined) return () => go(to);
  }
  if (key === 'g') {
    return () => {
      afterG = true;
    };
  }
  return pageKeys.findLast((keys) => keys[key])?.[key] ?? EVERYWHERE[key] ?? null;
}

function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement;
  return (
    element.matches?.('input:not([type=checkbox]), textarea, select') || element.isContentEditable === true
  );
}
