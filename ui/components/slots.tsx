import { number } from '../format.ts';
import { SHARED } from '../words/shared.ts';

/** Shows how many slots are in use. `running` jobs may be more, because jobs that were claimed ahead or adopted have no slot. */
export function Slots({ running, total }: { running: number; total: number }) {
  const busy = total === 0 ? running : Math.min(running, total);
  return (
    <span class="slots">
      <meter min={0} max={Math.max(1, total)} value={busy} aria-label={SHARED.slotsInUse} />
      {number(busy)}/{number(total)}
    </span>
  );
}
