import type { JobSettings, Settings } from './settings.ts';
import { defaultJobSettingValues, defaultSettingValues } from './stored-settings.ts' with { type: 'macro' };

/**
 * Returns the settings of a store in which none is stored. `manyHosts` tells whether several hosts can use it. The bundler calls
 * the functions and puts their results here, so that a short command does not load the table of settings, and all that checks and
 * formats their values.
 */
export function defaultSettings(manyHosts = false): Settings {
  return manyHosts ? defaultSettingValues(true) : defaultSettingValues(false);
}

/** Returns the default settings that a new job depends on. They are the same for all stores. */
export const defaultJobSettings = (): JobSettings => defaultJobSettingValues();
