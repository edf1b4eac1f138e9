import type { Condition } from '../core/jobs/filter.ts';

/** The columns of `job` that the conditions of a filter compare. */
export const CONDITION_COLUMNS: Record<Condition['field'], string> = {
  attempts: 'attempts',
  crashes: 'crashes',
  priority: 'priority',
  max_retries: 'max_retries',
  exit_code: 'exit_code',
  duration: 'duration_ms',
};
