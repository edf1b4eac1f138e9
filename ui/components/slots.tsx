import { number } from '../format.ts';
import { SHARED } from '../words/shared.ts';

/** Shows how many slots are in use. */
export function Slots({ busy, total }: { busy: number; total: number }) {
  return (
    <span class="slots">
      <meter min={0} max={Math.max(1, total)} value={busy} aria-label={SHARED.slotsInUse} />
      {number(busy)}/{number(total)}
    </span>
  );
}
