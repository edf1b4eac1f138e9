import { SHARED } from '../words/shared.ts';
import { plural } from './format.ts';
import type { Steady } from './steady.ts';

/** Tells how many rows are new while the rows keep their places, and shows them on a click. */
export function ShowNew({
  of: { fresh, show },
  noun,
}: {
  of: Pick<Steady<unknown>, 'fresh' | 'show'>;
  noun: string;
}) {
  if (fresh.length === 0) return null;
  return (
    <button type="button" class="small show-new" onClick={show}>
      {SHARED.showNew(plural(fresh.length, `new ${noun}`))}
    </button>
  );
}

/** Marks a row that is no longer in its list. */
export const rowLook = (isGone: boolean | undefined): { class?: string; title?: string } =>
  isGone ? { class: 'gone', title: SHARED.gone } : {};
