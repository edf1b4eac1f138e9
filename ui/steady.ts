import { signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { place } from './router.ts';
import { keepPlaces, type SteadyRows } from './steady-rows.ts';

/**
 * True while the pointer is over a list or a row has the focus. Rows then keep their places, so that a click or a key acts on
 * the row that the user sees. Elements with `data-steady` are lists.
 */
export const held = signal(false);

export function startSteady(): void {
  let over = false;
  const update = (): void => {
    held.value = over || document.activeElement?.closest('tbody, [data-row], .cells') != null;
  };
  const point = (target: EventTarget | null): void => {
    over = (target as Element | null)?.closest?.('[data-steady]') != null;
    update();
  };
  addEventListener('pointerover', (event) => point(event.target));
  // Without a related target, the pointer left the window, or a finger was lifted.
  addEventListener('pointerout', (event) => {
    if (event.relatedTarget === null) point(null);
  });
  addEventListener('focusin', update);
  // The next element has the focus only after this event.
  addEventListener('focusout', () => queueMicrotask(update));
  // An element that is removed with its page causes neither event.
  let path = place.value.path;
  place.subscribe((next) => {
    if (next.path !== path) setTimeout(point, 0, null);
    path = next.path;
  });
}

export interface Steady<T> extends SteadyRows<T> {
  /** The rows as they were when they were held, by their keys. Empty while they are not. */
  before: ReadonlyMap<string, T>;
  /** Shows the latest rows at once. */
  show(): void;
}

interface Options<T> {
  /** Names the list. Another list is shown at once. */
  list?: string;
  /** Holds the rows in any case. */
  hold?: boolean;
  /** The latest values of rows that may still be shown although they are not in the list. */
  also?: T[];
}

const NONE = { gone: new Set<string>(), before: new Map(), fresh: [] };

/** Returns the rows to show. While they are held, they keep their places. */
export function useSteady<T>(
  latest: T[],
  keyOf: (row: T) => string,
  { list = '', hold = false, also = [] }: Options<T> = {},
): Steady<T> {
  const last = useRef({ list, rows: latest, before: NONE.before as ReadonlyMap<string, T> });
  const shows = useSignal(0);
  const show = (): void => {
    last.current.rows = [];
    shows.value++;
  };
  // Reading the signal draws the list again when it changes.
  void shows.value;
  const isHeld = (held.value || hold) && last.current.list === list && last.current.rows.length > 0;
  if (!isHeld) {
    last.current = { list, rows: latest, before: NONE.before };
    return { ...NONE, rows: latest, show };
  }
  const { rows } = last.current;
  if (last.current.before.size === 0) last.current.before = new Map(rows.map((row) => [keyOf(row), row]));
  const kept = keepPlaces(rows, latest, keyOf, also);
  last.current.rows = kept.rows;
  return { ...kept, before: last.current.before, show };
}
