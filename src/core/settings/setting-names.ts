import { QueueError } from '../errors.ts';
import { kebab } from '../jobs/field.ts';
import { entryOf, orNull } from '../text/language.ts';
import { nearest } from '../text/nearest.ts';
import { shellWord } from '../text/shell-quote.ts';
import type { DurationUnit } from '../time/duration.ts';
import { SETTING_KEYS, SETTINGS, type Setting, type SettingKey } from './settings.ts';

/** Other names of the settings. A value means the same under every name. */
const ALIASES: Record<SettingKey, string> = {
  'max-retries': 'retries max-tries max-attempts retry-limit retry-count attempts',
  'backoff-base': 'base-backoff retry-backoff-base backoff backoff-factor backoff-multiplier',
  'backoff-strategy': 'retry-strategy',
  'backoff-max': `max-backoff backoff-cap backoff-limit max-delay max-retry-delay backoff-max-delay max-backoff-delay`,
  'backoff-jitter': 'jitter retry-jitter',
  'retry-delay': 'job-retry-delay',
  'job-timeout': 'timeout command-timeout execution-timeout max-runtime time-limit',
  'kill-grace': 'grace kill-grace-period kill-timeout',
  'poll-interval': 'poll polling check-interval polling-interval worker-poll-interval worker-poll',
  'heartbeat-interval': 'worker-heartbeat-interval heartbeat worker-heartbeat',
  lease: `worker-lease lease-timeout lease-duration lock-timeout lock-ttl lock-duration visibility-timeout
    claim-timeout heartbeat-timeout stale-threshold stale-timeout stale-after stale-lock stale-lock-timeout
    worker-stale worker-stale-timeout`,
  'crash-limit': 'max-crashes',
  'worker-count': 'workers num-workers max-workers',
  'stop-timeout': `graceful-shutdown-timeout shutdown-timeout worker-stop-timeout worker-shutdown-timeout drain-timeout`,
  'max-concurrent-jobs': 'max-running-jobs global-concurrency',
  'output-limit': 'max-output output-max max-output-size max-log-size',
  'shared-output': 'share-output output-shared shipped-output',
  'keep-completed': 'retention keep-done completed-retention retain-completed job-retention',
  'keep-cancelled': 'keep-canceled cancelled-retention retain-cancelled',
  'keep-dead': 'keep-dlq dead-retention dlq-retention retain-dead',
  'keep-events': 'events-retention event-retention retain-events keep-event-log',
  'on-complete': 'on-completed on-success hook-complete hooks-on-complete',
  'on-failure': 'on-failed on-fail hook-failure hooks-on-failure',
  'on-dead': 'on-death on-dlq hook-dead hooks-on-dead',
  'on-idle': 'on-empty hook-idle hooks-on-idle',
};

const DATABASE_HINT = 'to choose the database: queuectl --db PATH, or the environment variable QUEUECTL_DB';
const PORT_HINT = 'to choose the port: queuectl serve --port N';
const LOG_HINT = 'to write the log to a file: queuectl worker start 2>worker.log';
const ZONE_HINT = 'to choose the time zone of a schedule: queuectl schedule add --tz ZONE';

/** Settings of other queues that queuectl does not have, each with a hint about what to use instead. */
const FOREIGN_HINTS: Record<string, string> = {
  'worker-timeout':
    'to limit the time of a job: queuectl config set job-timeout 10m; for workers without a heartbeat: queuectl config set lease 1m',
  concurrency: 'to run several jobs per worker: queuectl worker start --concurrency N',
  priority: 'to choose the priority of a job: queuectl enqueue --priority N',
  queue: 'to choose the queue of a job: queuectl enqueue --queue NAME',
  ...hintFor('tz timezone', ZONE_HINT),
  ...hintFor('db db-path database data-dir storage storage-path', DATABASE_HINT),
  ...hintFor('port host dashboard-port web-port api-port', PORT_HINT),
  ...hintFor('log-level log-dir log-file log-path', LOG_HINT),
};

function hintFor(names: string, hint: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, hint]));
}

export const settingAliases = (key: SettingKey): readonly string[] => ALIASES[key].split(/\s+/);

const KEY_BY_NAME = new Map<string, SettingKey>();
for (const key of SETTING_KEYS) for (const name of [key, ...settingAliases(key)]) KEY_BY_NAME.set(name, key);

/**
 * Finds a setting by name, also as `max_retries`, `maxRetries` or `default-max-retries`. Throws if there is none. `bareUnit` is
 * the unit of a number without a unit: milliseconds if the name ends in `-ms` or `-milliseconds`, or else seconds.
 */
export function findSetting(name: string): { key: SettingKey; bareUnit: DurationUnit } {
  const kebabName = kebab(name.trim().replace(/[_.\s]+/g, '_'));
  const shortName = kebabName.replace(/^default-|-default$/, '');
  const key = KEY_BY_NAME.get(kebabName) ?? KEY_BY_NAME.get(shortName);
  if (key !== undefined) return { key, bareUnit: 's' };
  const suffix = /^(.+)-(ms|millis|milliseconds|s|secs?|seconds)$/.exec(shortName);
  const found = suffix === null ? undefined : KEY_BY_NAME.get(suffix[1]!);
  if (suffix !== null && found !== undefined && SETTINGS[found].timed)
    return { key: found, bareUnit: suffix[2]!.startsWith('m') ? 'ms' : 's' };
  const foreignHint = entryOf(FOREIGN_HINTS, shortName);
  if (foreignHint !== undefined)
    throw new QueueError('unknown-setting', `unknown setting '${name}'`, foreignHint);
  const guess = nearest(kebabName, KEY_BY_NAME.keys()) ?? nearest(suffix?.[1] ?? '', KEY_BY_NAME.keys());
  const unknown = `unknown setting '${name}'`;
  if (guess === null) throw new QueueError('unknown-setting', unknown);
  const guessed = KEY_BY_NAME.get(guess)!;
  const hint = `to print the setting: queuectl config get ${shellWord(guessed)}`;
  throw new QueueError('unknown-setting', `${unknown}; did you mean ${guessed}?`, hint);
}

/** True if `findSetting` accepts the name. */
export function isSetting(name: string): boolean {
  return orNull(() => findSetting(name)) !== null;
}

/** Checks the value for a setting. Returns it in the form in which it is stored. */
export function parseSetting(name: string, text: string): { key: SettingKey; text: string } {
  const { key, bareUnit } = findSetting(name);
  const row = SETTINGS[key] as Setting<unknown>;
  return { key, text: row.format(row.parse(text, key, bareUnit)) };
}
