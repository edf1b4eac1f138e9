import { invalidValue } from '../errors.ts';
import { exactDuration } from '../time/duration.ts';
import {
  defaultOf,
  type JobSettings,
  SETTING_KEYS,
  SETTINGS,
  type Setting,
  type SettingKey,
  type Settings,
} from './settings.ts';

/** A stored setting with an invalid value, for example after the database was changed by hand. */
export interface InvalidSetting {
  key: SettingKey;
  problem: string;
}

interface ReadSettings {
  settings: Settings;
  invalid: InvalidSetting[];
}

/** Returns the current settings. An invalid stored value is replaced by the default. */
export function resolveSettings(stored: ReadonlyMap<string, string>, manyHosts = false): Settings {
  return readSettings(stored, manyHosts).settings;
}

/** Returns the default settings of a store of one host, or of one that several hosts use. */
export const defaultSettingValues = (manyHosts: boolean): Settings => resolveSettings(new Map(), manyHosts);

/** Returns the default settings that a new job depends on. */
export function defaultJobSettingValues(): JobSettings {
  const settings = defaultSettingValues(false);
  return { 'max-retries': settings['max-retries'], 'job-timeout': settings['job-timeout'] };
}

/**
 * Returns the current settings together with the stored values that are invalid. `manyHosts` tells whether several hosts can use
 * the store.
 */
export function readSettings(stored: ReadonlyMap<string, string>, manyHosts = false): ReadSettings {
  const { settings, invalid } = readEachSetting(stored, manyHosts);
  try {
    refuseContradictorySettings(settings, manyHosts);
  } catch (error) {
    const keys = ['lease', 'heartbeat-interval', ...(manyHosts ? (['kill-grace'] as const) : [])] as const;
    for (const key of keys) settings[key] = defaultOf(SETTINGS[key], manyHosts);
    const which = manyHosts ? 'their' : 'both';
    invalid.push({
      key: 'lease',
      problem: `${(error as Error).message}; ${which} defaults are used instead`,
    });
  }
  return { settings, invalid };
}

/** Returns the same as `readSettings`, but does not check whether the settings contradict each other. */
export function readEachSetting(stored: ReadonlyMap<string, string>, manyHosts = false): ReadSettings {
  const settings: Record<string, unknown> = {};
  const invalid: InvalidSetting[] = [];
  for (const key of SETTING_KEYS) {
    const text = stored.get(key);
    const row = SETTINGS[key] as Setting<unknown>;
    const fallback = defaultOf(row, manyHosts);
    settings[key] = fallback;
    if (text === undefined) continue;
    try {
      settings[key] = row.parse(text, key, 's');
    } catch {
      const used = row.format(fallback);
      invalid.push({
        key,
        problem: `setting ${key} has the invalid value '${text}'; ${used} is used instead`,
      });
    }
  }
  return { settings: settings as Settings, invalid };
}

/**
 * Throws if the lease is shorter than three heartbeat intervals. If several hosts can use the store, also throws if a host could
 * not renew its lease in time before its guard stops the jobs.
 */
export function refuseContradictorySettings(settings: Settings, manyHosts = false): void {
  const { lease, 'heartbeat-interval': interval, 'kill-grace': grace } = settings;
  if (lease < 3 * interval) {
    throw invalidValue(
      `lease (${exactDuration(lease)}) must be at least 3 times heartbeat-interval (${exactDuration(interval)})`,
    );
  }
  if (manyHosts && guardedMs(settings) < 2 * interval) {
    // A whole number of seconds is easier to read and to type.
    const neededMs = Math.ceil(leaseFor(grace + 2 * interval) / 1000) * 1000;
    throw invalidValue(
      `lease (${exactDuration(lease)}) must be at least ${exactDuration(neededMs)} on PostgreSQL if kill-grace is ${exactDuration(grace)} and heartbeat-interval is ${exactDuration(interval)}`,
    );
  }
}

/** The longest margin, which is enough for slow machines and for clocks that run at different speeds. */
const LONGEST_MARGIN_MS = 5000;
/** The margin is this part of a short lease. */
const MARGIN_SHARE = 0.2;

/**
 * Returns how long the commands of a host may run after the last renewal of its lease, in a store that several hosts share. Then the
 * guard stops them. They must be gone when the lease is over, so the rest of the lease is for the grace period and a margin.
 */
export function guardedMs({ lease, 'kill-grace': grace }: Pick<Settings, 'lease' | 'kill-grace'>): number {
  return lease - grace - marginMs(lease);
}

/** Returns the part of a lease in which the commands of its host must have ended. */
function marginMs(lease: number): number {
  return Math.min(LONGEST_MARGIN_MS, Math.ceil(lease * MARGIN_SHARE));
}

/** Returns the shortest lease of which this much is left without the margin. */
function leaseFor(ms: number): number {
  return Math.min(ms + LONGEST_MARGIN_MS, Math.ceil(ms / (1 - MARGIN_SHARE)));
}
