import { localTime, wholeDuration } from '../format.ts';
import { now, utc } from '../store.ts';

/** Local time; the exact one in the tooltip. */
export function Time({ at }: { at: string | null }) {
  if (at === null) return <span class="faint">–</span>;
  return (
    <time dateTime={at} title={at}>
      {localTime(at, now.value, utc.value)}
    </time>
  );
}

/** `4m12s ago`, `in 20 s`. */
export function Ago({ at }: { at: string | null }) {
  if (at === null) return <span class="faint">–</span>;
  const ms = now.value - Date.parse(at);
  const text = Math.abs(ms) < 1000 ? 'now' : ms > 0 ? `${wholeDuration(ms)} ago` : `in ${wholeDuration(-ms)}`;
  return (
    <time dateTime={at} title={at}>
      {text}
    </time>
  );
}

/** How long it has been going on. */
export function Since({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {wholeDuration(now.value - Date.parse(at))}
    </time>
  );
}
