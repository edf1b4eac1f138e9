import { useLayoutEffect } from 'preact/hooks';
import { EMPTY } from '../jobs/draft.ts';
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
  Escape: () => leaveRow(),
  '/': () => (document.querySelector<HTMLElement>('[data-search]') ?? openPalette())?.focus(),
};

function openPalette(): null {
  paletteOpen.value = true;
  return null;
}

const rowOf = (element: Element | null): HTMLElement | null =>
  element?.closest<HTMLElement>('[data-row]') ?? null;

/** Returns the row that has the focus, so that a key acts on the row that a screen reader announces. */
export const focusedRow = (): string | null => rowOf(document.activeElement)?.dataset.row ?? null;

/** Takes the focus from the row that has it, so that the list is updated again. */
export function leaveRow(): void {
  if (focusedRow() !== null) (document.activeElement as HTMLElement).blur();
}

const rowBox = (): HTMLInputElement | null | undefined =>
  rowOf(document.activeElement)?.querySelector<HTMLInputElement>('input[type=checkbox]');

/** Returns what a key does in a row, or null if the browser handles it. */
function rowHandler(key: string, target: Element): Handler | null {
  const row = rowOf(target);
  if (row === null) return null;
  if (key === 'ArrowDown') return () => step(1);
  if (key === 'ArrowUp') return () => step(-1);
  // The browser itself opens a focused link on Enter, and selects a focused checkbox on Space.
  const open = row.querySelector<HTMLElement>('[data-open]');
  if (key === 'Enter' && target.matches('input[type=checkbox]') && open !== null) return () => open.click();
  if (key === ' ' && target.matches('a') && rowBox() !== null) return () => rowBox()!.click();
  return null;
}

/** Returns what has the focus in a row. The link of the row comes before its checkbox, so that Enter opens the row. */
const focusTarget = (row: HTMLElement): HTMLElement | null =>
  row.querySelector<HTMLElement>('[data-open]') ?? row.querySelector<HTMLElement>('a, button, input');

function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')].filter(focusTarget);
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by];
  if (next !== undefined) focusTarget(next)!.focus();
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
    const run = handlerOf(event.key) ?? rowHandler(event.key, event.target as Element);
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
