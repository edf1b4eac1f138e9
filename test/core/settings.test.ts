import { describe, expect, test } from 'bun:test';
import { findSetting, parseSetting } from '../../src/core/settings/setting-names.ts';
import { SETTING_KEYS, SETTINGS, type Setting } from '../../src/core/settings/settings.ts';
import {
  guardedMs,
  readEachSetting,
  readSettings,
  refuseContradictorySettings,
  resolveSettings,
} from '../../src/core/settings/stored-settings.ts';
import { errorOf } from '../support/error-of.ts';

const storedAs = (name: string, text: string) => {
  const { key, text: stored } = parseSetting(name, text);
  return `${key}=${stored}`;
};

describe('every setting', () => {
  test.each(SETTING_KEYS.map((key) => [key] as const))(
    '%s has a default that can be parsed, a help text and a range',
    (key) => {
      const { default: value, format, parse, help, range } = SETTINGS[key] as Setting<unknown>;
      expect(parse(format(value), key, 's')).toEqual(value);
      expect(help).not.toBe('');
      expect(range).not.toBe('');
      expect(findSetting(key)).toEqual({ key, bareUnit: 's' });
    },
  );

  test('the defaults that users rely on are unchanged', () => {
    expect(resolveSettings(new Map())).toMatchObject({
      'max-retries': 3,
      'backoff-base': 2,
      'backoff-strategy': 'exponential',
      'backoff-max': null,
      'backoff-jitter': 0,
      'job-timeout': null,
      'kill-grace': 5000,
      'poll-interval': 1000,
      'heartbeat-interval': 5000,
      'crash-limit': 5,
      'worker-count': 1,
      'stop-timeout': null,
      'output-limit': 10 * 1024 * 1024,
      'keep-completed': { ageMs: 30 * 86_400_000, count: null, bytes: null },
      'keep-cancelled': { ageMs: 30 * 86_400_000, count: null, bytes: null },
      'keep-dead': null,
      'keep-events': { ageMs: 7 * 86_400_000, count: null, bytes: null },
    });
    refuseContradictorySettings(resolveSettings(new Map()));
  });

  test('stored values override defaults, and unknown keys change nothing', () => {
    const settings = resolveSettings(
      new Map([
        ['max-retries', '7'],
        ['job-timeout', '90s'],
        ['from-the-future', '1'],
      ]),
    );
    expect(settings).toMatchObject({ 'max-retries': 7, 'job-timeout': 90_000, 'backoff-base': 2 });
    expect(Object.keys(settings)).toEqual(SETTING_KEYS);
  });
});

describe('all spellings of a key are accepted', () => {
  test.each([
    [
      'max-retries',
      'max_retries maxRetries max.retries MAX-RETRIES MAX_RETRIES MaxRetries default_max_retries default-max-tries',
    ],
    ['backoff-base', 'backoff_base base_backoff backoffBase baseBackoff'],
    ['job-timeout', 'job_timeout jobTimeout job-timeout-seconds'],
    [
      'poll-interval',
      'poll_interval poll_interval_ms pollIntervalMs check-interval check_interval worker-poll-interval',
    ],
    ['heartbeat-interval', 'worker-heartbeat-interval worker_heartbeat_interval heartbeat_interval_sec'],
    ['stop-timeout', 'graceful-shutdown-timeout gracefulShutdownTimeout stop_timeout'],
    ['retry-delay', 'job-retry-delay job_retry_delay retry_delay_ms'],
    ['backoff-strategy', 'backoff_strategy backoffStrategy'],
  ] as const)('%s', (key, names) => {
    for (const name of names.split(' ')) expect([name, findSetting(name).key]).toEqual([name, key]);
  });
});

describe('setting a value', () => {
  test.each([
    ['poll_interval_ms', '250', 'poll-interval=250ms'],
    ['poll-interval-sec', '2', 'poll-interval=2s'],
    ['poll-interval-seconds', '2', 'poll-interval=2s'],
    ['poll-interval', '2', 'poll-interval=2s'],
    ['poll-interval-ms', '2s', 'poll-interval=2s'],
    ['worker-poll-interval', '0.5', 'poll-interval=500ms'],
    ['worker-poll-interval', '1', 'poll-interval=1s'],
    ['worker-poll-interval', '2s', 'poll-interval=2s'],
    ['worker-poll-interval-seconds', '2', 'poll-interval=2s'],
    ['job-retry-delay-ms', '1500', 'retry-delay=1500ms'],
    ['graceful-shutdown-timeout', '30', 'stop-timeout=30s'],
    ['job-timeout', 'none', 'job-timeout=none'],
    ['output-limit', '1MiB', 'output-limit=1M'],
    ['backoff-strategy', ' Fixed ', 'backoff-strategy=fixed'],
    ['backoff-base', '1.5', 'backoff-base=1.5'],
  ] as const)('%s to %s stores %s', (name, text, stored) => {
    expect(storedAs(name, text)).toBe(stored);
  });

  test.each([
    ['max-retries-ms', '5'],
    ['backoff-base-ms', '500'],
    ['output-limit-sec', '1M'],
  ] as const)('%s to %s is refused, because the setting is not a duration', (name, text) => {
    expect(errorOf(() => storedAs(name, text)).exitCode).toBe(2);
  });
});

describe('an unknown key suggests the nearest name', () => {
  test.each([
    ['max-retrys', 'max-retries'],
    ['max_retires', 'max-retries'],
    ['backof-base', 'backoff-base'],
    ['leese', 'lease'],
    ['base-backof', 'backoff-base'],
  ] as const)('%s', (name, key) => {
    const error = errorOf(() => findSetting(name));
    expect(error.code).toBe('unknown-setting');
    expect(error.message).toBe(`unknown setting '${name}'; did you mean ${key}?`);
  });

  test.each([['colour'], [''], ['__proto__'], ['constructor'], ['-ms']] as const)(
    "'%s' suggests nothing",
    (name) => {
      expect(errorOf(() => findSetting(name)).message).toBe(`unknown setting '${name}'`);
    },
  );
});

const REFUSED: Record<string, string[]> = {
  'max-retries': ['-1', '1001', '2.5', '1e3', '', 'none'],
  'backoff-base': ['0.9', 'NaN', '1001'],
  'backoff-jitter': ['1.1', '-0.1'],
  'backoff-strategy': ['random', ''],
  'backoff-max': ['0', '5m; x'],
  'retry-delay': ['-1', '366d'],
  'job-timeout': ['0', '-1', '3651d'],
  'kill-grace': ['2h'],
  'poll-interval': ['1ms', '0'],
  'heartbeat-interval': ['50ms', '11m'],
  lease: ['none', '2d'],
  'crash-limit': ['0', '1001'],
  'worker-count': ['0', '257'],
  'stop-timeout': ['never', '0'],
  'max-concurrent-jobs': ['0', '-1', 'many'],
  'output-limit': ['1k', '2T'],
  'shared-output': ['-1', '17M', 'all', ''],
  'keep-completed': ['', '5m', '7d,30d', '-1', 'forever'],
  'keep-cancelled': ['500m', '1.5'],
  'keep-dead': ['0s', 'for ever'],
  'keep-events': ['1G', '7d,1G', '5m'],
  'on-complete': [''],
  'on-failure': ['  '],
  'on-dead': ['\0'],
  'on-idle': [''],
};

describe('a value out of range or of the wrong type is refused', () => {
  test('every setting is covered', () =>
    expect(Object.keys(REFUSED).toSorted()).toEqual(SETTING_KEYS.toSorted()));

  test.each(Object.entries(REFUSED))('%s: %j', (key, texts) => {
    for (const text of texts) {
      const error = errorOf(() => storedAs(key, text));
      expect(error.exitCode).toBe(2);
      expect(error.message).toContain(key);
      expect(error.message).toContain(`'${text}'`);
    }
  });
});

describe('a lease is at least three heartbeat intervals', () => {
  const checkLease = (lease: string, beat: string) => () =>
    refuseContradictorySettings(
      readEachSetting(
        new Map([
          ['lease', lease],
          ['heartbeat-interval', beat],
        ]),
      ).settings,
    );

  test('exactly three heartbeat intervals are accepted', () => expect(checkLease('15s', '5s')).not.toThrow());
  test('less is refused with both names', () => {
    const error = errorOf(checkLease('14999ms', '5s'));
    expect(error.code).toBe('invalid-value');
    expect(error.message).toBe('lease (14999ms) must be at least 3 times heartbeat-interval (5s)');
  });
});

describe('if several hosts can use the store', () => {
  const read = (stored: Record<string, string>) => readSettings(new Map(Object.entries(stored)), true);

  test('the default of lease is longer', () => {
    expect(read({})).toMatchObject({ settings: { lease: 120_000 }, invalid: [] });
    expect(readSettings(new Map()).settings.lease).toBe(30_000);
  });

  test.each([
    ['2m', '5s', '5s', 110_000],
    ['25s', '5s', '10s', 10_000],
    ['10s', '1s', '6s', 2000],
  ])('with lease %s, heartbeat %s and grace %s, commands may run for %i ms', (lease, beat, grace, ms) => {
    const { settings, invalid } = read({ lease, 'heartbeat-interval': beat, 'kill-grace': grace });
    expect(invalid).toEqual([]);
    expect(guardedMs(settings)).toBe(ms);
  });

  test.each([
    ['2m', '5s', '106s', '121s'],
    ['10s', '1s', '6001ms', '11s'],
  ])('lease %s is too short for heartbeat %s and grace %s', (lease, beat, grace, needed) => {
    const { settings, invalid } = read({ lease, 'heartbeat-interval': beat, 'kill-grace': grace });
    const problem = `lease (${lease}) must be at least ${needed} on PostgreSQL if kill-grace is ${grace} and heartbeat-interval is ${beat}; their defaults are used instead`;
    expect(invalid).toEqual([{ key: 'lease', problem }]);
    expect(settings).toMatchObject({ lease: 120_000, 'heartbeat-interval': 5000, 'kill-grace': 5000 });
    const enough = read({ lease: needed, 'heartbeat-interval': beat, 'kill-grace': grace });
    expect(enough.invalid).toEqual([]);
  });
});

describe('invalid stored values', () => {
  test('are replaced by the default, each with a reason', () => {
    const { settings, invalid } = readSettings(
      new Map([
        ['max-retries', 'lots'],
        ['lease', '1m'],
        ['on-dead', ''],
      ]),
    );
    expect(settings).toMatchObject({ 'max-retries': 3, lease: 60_000, 'on-dead': null });
    expect(invalid).toEqual([
      { key: 'max-retries', problem: "setting max-retries has the invalid value 'lots'; 3 is used instead" },
      { key: 'on-dead', problem: "setting on-dead has the invalid value ''; none is used instead" },
    ]);
  });

  test('of lease and heartbeat-interval are both replaced if they contradict each other', () => {
    const { settings, invalid } = readSettings(new Map([['heartbeat-interval', '1m']]));
    expect(settings).toMatchObject({ lease: 30_000, 'heartbeat-interval': 5000 });
    expect(invalid).toMatchObject([{ key: 'lease', problem: expect.stringContaining('1m') }]);
  });
});
