import type { SetAsideCounts } from './contract/jobs.ts';
import type { Row } from './row.ts';

/** The reasons to wait that lie in the job, not in its queue, each with the phase and the state of such jobs. */
export const OWN_REASONS = [
  ['held', 'held', 'pending'],
  ['held', 'held', 'failed'],
  ['blocked', 'blocked', 'pending'],
  ['blocked', 'blocked', 'failed'],
  ['scheduled', 'waiting', 'pending'],
  ['retrying', 'waiting', 'failed'],
] as const;

/** At most this many jobs that are due but not yet ready are sorted by number. If there are more, all delayed jobs are scanned. */
export const MAX_DUE = 5000;

export function toSetAsideCounts(row: Row): SetAsideCounts {
  const { held, blocked, retrying, later } = row as Record<string, number>;
  return {
    queue: row.name as string,
    held: held!,
    blocked: blocked!,
    retrying: retrying!,
    scheduled: later! - retrying!,
  };
}
