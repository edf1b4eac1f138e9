import type { JobSpec } from '../core/jobs/job.ts';
import { JOB_DEFAULTS } from '../core/jobs/job-defaults.ts';
import { PLAIN_KEYS, RARE_KEYS } from './job-columns.ts';
import { isEmpty, type QueuedSpec } from './new-rows.ts';
import type { SqlValue } from './row.ts';

type Values = Record<string, SqlValue>;

/** The defaults of RARE_KEYS, in the same order. */
const RARE_DEFAULTS = RARE_KEYS.map((key) => JOB_DEFAULTS[key]);

/** Tells whether the job sets none of the fields that sql.insertPlainJobs leaves out. */
export function isPlain(job: JobSpec): boolean {
  if (job.hold) return false;
  for (let i = 0; i < RARE_KEYS.length; i++) {
    const value = job[RARE_KEYS[i] as keyof JobSpec];
    if (value !== RARE_DEFAULTS[i] && !isEmpty(value)) return false;
  }
  return true;
}

/** Adds the values of sql.insertPlainJobs, without creating an array for each of many jobs. */
export function pushPlainValues(values: SqlValue[], { job, queue }: QueuedSpec, now: number): void {
  values.push(queue);
  for (let i = 0; i < PLAIN_KEYS.length; i++) values.push((job as unknown as Values)[PLAIN_KEYS[i]!]!);
  values.push(now, now, now);
}
