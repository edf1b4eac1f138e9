import { defaultSettingValues } from './default-setting-values.ts' with { type: 'macro' };
import type { Settings } from './settings.ts';

/**
 * The settings of a queue for which none is stored. The bundler calls the function and puts its result here, so that a short
 * command does not load the table of settings, and all that checks and formats their values.
 */
export const DEFAULT_SETTINGS: Readonly<Settings> = defaultSettingValues();
