import type { JobSettings, Settings } from './settings.ts';
import { resolveSettings } from './stored-settings.ts';

/** Returns the default settings of a store of one host, or of one that several hosts use. */
export const defaultSettingValues = (manyHosts: boolean): Settings => resolveSettings(new Map(), manyHosts);

/** Returns the default settings that a new job depends on. */
export function defaultJobSettingValues(): JobSettings {
  const settings = defaultSettingValues(false);
  return { 'max-retries': settings['max-retries'], 'job-timeout': settings['job-timeout'] };
}
