import { exactDuration } from './duration.ts';
import { invalidValue } from './errors.ts';
import { SETTING_KEYS, SETTINGS, type Setting, type SettingKey, type Settings } from './settings.ts';

/** A stored setting with an invalid value, for example after the database was changed by hand. */
export interface InvalidSetting {
  key: SettingKey;
  problem: string;
}

/** Returns the current settings. An invalid stored value is replaced by the default. */
export function resolveSettings(stored: ReadonlyMap<string, string>): Settings {
  return readSettings(stored).settings;
}

/** Returns the current settings together with the stored values that are invalid. */
export function readSettings(stored: ReadonlyMap<string, string>): {
  settings: Settings;
  invalid: InvalidSetting[];
} {
  const { settings, invalid } = readEachSetting(stored);
  try {
    refuseContradictorySettings(settings);
  } catch (error) {
    for (const key of ['lease', 'heartbeat-interval'] as const) settings[key] = SETTINGS[key].default;
    invalid.push({ key: 'lease', problem: `${(error as Error).message}; both defaults are used instead` });
  }
  return { settings, invalid };
}

/** Returns the same as `readSettings`, but does not check whether the settings contradict each other. */
export function readEachSetting(stored: ReadonlyMap<string, string>): ReturnType<typeof readSettings> {
  const settings: Record<string, unknown> = {};
  const invalid: InvalidSetting[] = [];
  for (const key of SETTING_KEYS) {
    const text = stored.get(key);
    const row = SETTINGS[key] as Setting<unknown>;
    settings[key] = row.default;
    if (text === undefined) continue;
    try {
      settings[key] = row.parse(text, key, 's');
    } catch {
      const used = row.format(row.default);
      invalid.push({
        key,
        problem: `setting ${key} has the invalid value '${text}'; ${used} is used instead`,
      });
    }
  }
  return { settings: settings as Settings, invalid };
}

/** Throws if the lease is shorter than three heartbeat intervals. */
export function refuseContradictorySettings(settings: Settings): void {
  if (settings.lease < 3 * settings['heartbeat-interval']) {
    throw invalidValue(
      `lease (${exactDuration(settings.lease)}) must be at least 3 times heartbeat-interval (${exactDuration(settings['heartbeat-interval'])})`,
    );
  }
}
