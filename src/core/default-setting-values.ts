import type { Settings } from './settings.ts';
import { resolveSettings } from './stored-settings.ts';

/** Returns the value of DEFAULT_SETTINGS, or that of MANY_HOSTS_DEFAULTS. */
export const defaultSettingValues = (manyHosts: boolean): Settings => resolveSettings(new Map(), manyHosts);
