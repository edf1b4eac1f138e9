import type { SettingKey } from '../core/settings/settings.ts';

export const RUNNING_LIMIT_KEY = 'max-concurrent-jobs' satisfies SettingKey;

/** Returns the limit that is stored under RUNNING_LIMIT_KEY, or null if there is none. */
export function toRunningLimit(text: unknown): number | null {
  const limit = Number(text ?? Number.NaN);
  // A text that is not a valid number means no limit: it is `none`, or somebody changed it in the database.
  return Number.isInteger(limit) && limit >= 1 ? limit : null;
}
