import { defaultSettingValues } from './default-setting-values.ts' with { type: 'macro' };
import type { Settings } from './settings.ts';

/**
 * The settings of a queue for which none is stored. The bundler calls the function and puts its result here, so that a short
 * command does not load the table of settings, and all that checks and formats their values.
 */
const DEFAULT_SETTINGS: Readonly<Settings> = defaultSettingValues(false);
const MANY_HOSTS_DEFAULTS: Readonly<Settings> = defaultSettingValues(true);

/** Returns the default settings of a store. `manyHosts` tells whether several hosts can use it. */
export function defaultSettings(manyHosts = false): Settings {
  return { ...(manyHosts ? MANY_HOSTS_DEFAULTS : DEFAULT_SETTINGS) };
}
