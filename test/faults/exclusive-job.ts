import { join } from 'node:path';
import { lines } from '../support/queuectl.ts';
import { witnessed } from './witness.ts';

const OVERLAPS = 'overlaps.log';

/**
 * Returns shell commands that take a lock with the name of the job. The kernel releases it when the last process of the run has
 * ended. A run that cannot get it has met another run of its job, and writes that down.
 */
const TAKE_LOCK = `exec 9>>"lock-$QUEUECTL_JOB_ID"; flock -n 9 || echo "$QUEUECTL_JOB_ID" >>${OVERLAPS}`;

/** Returns the same command as `witnessed`, but with a lock. */
export const exclusive = (seconds: number): string => `${TAKE_LOCK}; ${witnessed(seconds)}`;

/**
 * Returns a command whose first run never ends by itself, and whose later runs end at once. Both write the time, in seconds since
 * the boot, to the files `ticks-JOB` and `starts-JOB`. With `isStubborn`, the first run ignores SIGTERM.
 */
export function endless(isStubborn: boolean): string {
  return `${TAKE_LOCK}; . ./witness.sh; say S -
read -r up rest </proc/uptime; echo "$up" >>"starts-$QUEUECTL_JOB_ID"
mkdir "first-$QUEUECTL_JOB_ID" 2>/dev/null || { say E 0; exit 0; }
${isStubborn ? "trap '' TERM" : ':'}
while :; do read -r up rest </proc/uptime; echo "$up" >>"ticks-$QUEUECTL_JOB_ID"; sleep 0.05; done`;
}

/** Returns the ids of the jobs of which two runs met. */
export const overlapsIn = (directory: string): string[] => lines(join(directory, OVERLAPS));

/** Returns the milliseconds from the last tick of the first run of a job to the start of its second run. */
export function gapOf(directory: string, job: string): number {
  const last = (file: string): number => Number(lines(join(directory, file)).at(-1));
  return Math.round((last(`starts-${job}`) - last(`ticks-${job}`)) * 1000);
}
