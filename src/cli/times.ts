import { formatDuration } from '../core/duration.ts';

/** "3m ago", "in 12s": rounded to what a person cares for. */
export function relative(at: number, now: number): string {
  const distance = Math.abs(at - now);
  if (distance < 1000) return 'now';
  const rounded = formatDuration(Math.floor(distance / 1000) * 1000);
  return at > now ? `in ${rounded}` : `${rounded} ago`;
}
