import { signal, useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { place } from '../frame/router.ts';
import { keepPlaces, type SteadyRows } from './steady-rows.ts';

/**
 * The names of the lists that the pointer is over, or that have a row with the focus. Their rows keep their places, so that a
 * click or a key acts on the row that the user sees. Other lists are not held, so that they show what is new.
 */
const heldLists = signal<ReadonlySet<string>>(new Set());

/** Tells whether a list is held. */
export const isHeld = (name: string): boolean => heldLists.value.has(name);

/** Returns the names of the lists around an element: the values of `data-steady`. */
function listsAround(element: Element | null | undefined): string[] {
  const list = element?.closest<HTMLElement>('[data-steady]');
  return list == null ? [] : [list.dataset.steady!, ...listsAround(list.parentElement)];
}

export function startSteady(): void {
  let over: string[] = [];
  const update = (): void => {
    const row = document.activeElement?.closest('tbody, [data-row], .cells');
    const next = new Set([...over, ...listsAround(row)]);
    // The same lists in a new set would draw all lists again.
    if (next.symmetricDifference(heldLists.value).size > 0) heldLists.value = next;
  };
  const point = (target: EventTarget | null): void => {
    over = target instanceof Element ? listsAround(target) : [];
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
  /** Attributes for the element that contains the list. */
  box: { 'data-steady': string };
}

interface Options<T> {
  /** Identifies what is listed. Another list is shown at once. */
  list?: string;
  /** Holds the rows in any case. */
  hold?: boolean;
  /** The latest values of rows that may still be shown although they are not in the list. */
  also?: T[];
}

const NONE = { gone: new Set<string>(), before: new Map(), fresh: [] };

/** Returns the rows to show. While they are held, they keep their places. Each list on a page has its own name. */
export function useSteady<T>(
  name: string,
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
  const box = { 'data-steady': name };
  const keeps = (isHeld(name) || hold) && last.current.list === list && last.current.rows.length > 0;
  if (!keeps) {
    last.current = { list, rows: latest, before: NONE.before };
    return { ...NONE, rows: latest, show, box };
  }
  const { rows } = last.current;
  if (last.current.before.size === 0) last.current.before = new Map(rows.map((row) => [keyOf(row), row]));
  const kept = keepPlaces(rows, latest, keyOf, also);
  last.current.rows = kept.rows;
  return { ...kept, before: last.current.before, show, box };
}
