import { now, utc } from '../frame/store.ts';
import { elapsed, localTime, relativeTime } from './format.ts';

/** Shows the local time, with the exact time as a tooltip. */
export function Time({ at }: { at: string | null }) {
  if (at === null) return <span class="faint">–</span>;
  return (
    <time dateTime={at} title={at}>
      {localTime(at, now.value, utc.value)}
    </time>
  );
}

/** Shows the distance from now, such as `4m 12s ago` or `in 20s`. */
export function Ago({ at }: { at: string | null }) {
  if (at === null) return <span class="faint">–</span>;
  return (
    <time dateTime={at} title={at}>
      {relativeTime(at, now.value)}
    </time>
  );
}

/** Shows the time since then. */
export function Since({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {elapsed(now.value - Date.parse(at))}
    </time>
  );
}
