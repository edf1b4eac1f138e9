import type { Settings } from './settings.ts';
import { resolveSettings } from './stored-settings.ts';

/** Returns the value of DEFAULT_SETTINGS. */
export const defaultSettingValues = (): Settings => resolveSettings(new Map());
