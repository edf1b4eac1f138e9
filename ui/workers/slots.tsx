import { number } from '../parts/format.ts';
import { SHARED } from '../words/shared.ts';

/** Returns how many slots are in use. There may be more `running` jobs, because jobs that were claimed ahead or adopted have no slot. */
export function slotsInUse(running: number, total: number): number {
  return Math.min(running, total);
}

/** Shows how many slots are in use. Without slots, it shows the jobs that still run. */
export function Slots({ running, total }: { running: number; total: number }) {
  const busy = total === 0 ? running : slotsInUse(running, total);
  return (
    <span class="slots">
      <meter min={0} max={Math.max(1, total)} value={busy} aria-label={SHARED.slotsInUse} />
      {number(busy)}/{number(total)}
    </span>
  );
}
