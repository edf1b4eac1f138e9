import { defaultSettings } from '../core/settings/default-settings.ts';
import { findSetting, parseSetting } from '../core/settings/setting-names.ts';
import {
  defaultOf,
  SETTING_KEYS,
  SETTINGS,
  type Setting,
  type SettingKey,
} from '../core/settings/settings.ts';
import { readEachSetting, refuseContradictorySettings } from '../core/settings/stored-settings.ts';
import type { SettingObject } from '../core/wire/wire.ts';
import { type App, readStoredSettings } from './app.ts';

export async function listSettings(app: App): Promise<SettingObject[]> {
  const { settings, stored } = await readStoredSettings(app, defaultSettings);
  return SETTING_KEYS.map((key) => {
    const definition = SETTINGS[key] as Setting<unknown>;
    return {
      key,
      value: jsonValue(settings[key], definition),
      default: jsonValue(defaultOf(definition, app.store.manyHosts), definition),
      text: definition.format(settings[key]),
      is_default: !stored.has(key),
      range: definition.range(),
      help: definition.help,
    };
  });
}

/** Returns the JSON value of a setting: a number or null as it is, and any other value as text. */
function jsonValue(value: unknown, definition: Setting<unknown>): number | string | null {
  return typeof value === 'number' || value === null ? value : definition.format(value);
}

export async function getSetting(app: App, name: string): Promise<SettingObject> {
  const { key } = findSetting(name);
  return (await listSettings(app)).find((setting) => setting.key === key)!;
}

export async function setSetting(app: App, name: string, value: string): Promise<SettingObject> {
  const { key, text } = parseSetting(name, value);
  return changeSetting(app, key, text);
}

export async function unsetSetting(app: App, name: string): Promise<SettingObject> {
  return changeSetting(app, findSetting(name).key, null);
}

/** Resets every setting that has a stored value. Returns these settings. */
export async function unsetAllSettings(app: App): Promise<SettingObject[]> {
  const storedKeys = (await listSettings(app)).filter((setting) => !setting.is_default).map(({ key }) => key);
  // A default may contradict a setting that is reset only after it. The defaults together contradict nothing.
  for (const key of storedKeys) await app.store.set(key, null, () => {});
  app.wakeups.wake();
  return (await listSettings(app)).filter(({ key }) => storedKeys.includes(key));
}

async function changeSetting(app: App, key: SettingKey, text: string | null): Promise<SettingObject> {
  const { manyHosts } = app.store;
  await app.store.set(key, text, (stored) =>
    refuseContradictorySettings(readEachSetting(stored, manyHosts).settings, manyHosts),
  );
  app.wakeups.wake();
  return getSetting(app, key);
}
