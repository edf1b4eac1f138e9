import type { SettingKey } from '../core/settings/settings.ts';
import type { Row } from './row.ts';

export const SELECT_SETTINGS = 'SELECT key, value FROM setting';

export function toSettings(rows: Row[]): Map<string, string> {
  return new Map(rows.map(({ key, value }) => [key as string, value as string]));
}

export const RUNNING_LIMIT_KEY = 'max-concurrent-jobs' satisfies SettingKey;

/** Returns the limit that is stored under RUNNING_LIMIT_KEY, or null if there is none. */
export function toRunningLimit(text: unknown): number | null {
  const limit = Number(text ?? Number.NaN);
  // A text that is not a valid number means no limit: it is `none`, or somebody changed it in the database.
  return Number.isInteger(limit) && limit >= 1 ? limit : null;
}
