import { describe, expect, test } from 'bun:test';
import { decide, mayStart, type Policy, policyFromSettings, type Transition } from '../../src/core/decide.ts';
import type { JobPolicy } from '../../src/core/job.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { resolveSettings } from '../../src/core/stored-settings.ts';

const NOW = 1_000_000;
const policy = policyFromSettings(resolveSettings(new Map()));
const fresh = {
  attempts: 0,
  crashes: 0,
  maxRetries: 3,
  backoffBase: null as number | null,
  policy: {} as JobPolicy,
};
const judge = (job: Partial<typeof fresh>, outcome: Outcome, rules: Policy = policy): Transition =>
  decide({ ...fresh, ...job }, outcome, rules, NOW, () => 0.5);

describe('a successful attempt', () => {
  test.each([0, 1, 3, 4])('exit code 0 completes with max_retries %d and is counted', (maxRetries) => {
    expect(judge({ maxRetries }, { why: 'exited', code: 0 })).toEqual({
      to: 'completed',
      attempts: 1,
      crashes: 0,
    });
  });

  test('the last allowed attempt can still complete', () => {
    expect(judge({ attempts: 2 }, { why: 'exited', code: 0 })).toMatchObject({
      to: 'completed',
      attempts: 3,
    });
  });
});

const FAILURES: Outcome[] = [
  { why: 'exited', code: 1 },
  { why: 'exited', code: 126 },
  { why: 'exited', code: 127 },
  { why: 'exited', code: 137 },
  { why: 'timeout' },
  { why: 'spawn-error', message: 'the directory is gone' },
];

describe('a failed attempt', () => {
  test.each(FAILURES.map((outcome) => [outcome] as const))('%j is retried, then dead', (outcome) => {
    expect(judge({}, outcome)).toEqual({ to: 'failed', attempts: 1, crashes: 0, nextRunAt: NOW + 2000 });
    expect(judge({ attempts: 2 }, outcome)).toEqual({ to: 'dead', attempts: 3, crashes: 0 });
  });
});

describe('max_retries is the maximum number of attempts', () => {
  test.each([
    [0, []],
    [1, []],
    [2, [2000]],
    [3, [2000, 4000]],
    [4, [2000, 4000, 8000]],
  ] as const)('max_retries %d: waits %j, then dead', (maxRetries, waits) => {
    const seen: number[] = [];
    let attempts = 0;
    for (;;) {
      const next = judge({ attempts, maxRetries }, { why: 'exited', code: 1 });
      expect(next.attempts).toBe(++attempts);
      if (next.to !== 'failed') {
        expect(next.to).toBe('dead');
        break;
      }
      seen.push(next.nextRunAt - NOW);
    }
    expect(seen).toEqual([...waits]);
  });

  test('a job is dead if its limit was lowered below the attempts it made', () => {
    expect(judge({ attempts: 7 }, { why: 'exited', code: 1 })).toMatchObject({ to: 'dead', attempts: 8 });
  });
});

describe('the backoff base', () => {
  const wait = (base: number | null, attempts: number) => {
    const next = judge({ attempts, maxRetries: 9, backoffBase: base }, { why: 'exited', code: 1 });
    return next.to === 'failed' ? next.nextRunAt - NOW : next.to;
  };

  test.each([
    [null, 0, 2000],
    [3, 0, 3000],
    [3, 1, 9000],
    [1.5, 0, 1500],
    [1.5, 2, 3375],
    [1, 5, 1000],
  ] as const)("the job's own %p after %d attempts waits %d ms", (base, attempts, ms) => {
    expect(wait(base, attempts)).toBe(ms);
  });

  test('the job overrides only its base, and cap and jitter come from the policy', () => {
    const rules: Policy = { ...policy, backoff: { ...policy.backoff, maxMs: 5000, jitter: 1 } };
    const next = judge({ maxRetries: 9, backoffBase: 10 }, { why: 'exited', code: 1 }, rules);
    expect(next).toMatchObject({ to: 'failed', nextRunAt: NOW + 2500 });
  });
});

describe("a job's own backoff", () => {
  const settings = { strategy: 'exponential', base: 2, retryDelayMs: 5000, maxMs: 3000, jitter: 1 } as const;
  test.each([
    [{ jitter: 0 }, 3000],
    [{ jitter: 0, backoffMaxMs: 60_000 }, 8000],
    [{ jitter: 0.5, backoffMaxMs: 60_000 }, 6000],
    [{ jitter: 0, backoff: 'linear', backoffMaxMs: 60_000 }, 15_000],
    [{ jitter: 0, backoff: 'fixed', retryDelayMs: 700 }, 700],
    [{ jitter: 0, backoff: 'fixed', retryDelayMs: 0 }, 0],
    [{}, 1500],
  ] as [JobPolicy, number][])('%j overrides the settings, so that the third wait is %d ms', (given, ms) => {
    const rules: Policy = { ...policy, backoff: settings };
    const next = judge({ attempts: 2, maxRetries: 9, policy: given }, { why: 'exited', code: 1 }, rules);
    expect(next).toMatchObject({ to: 'failed', nextRunAt: NOW + ms });
  });
});

describe('an uncharged attempt', () => {
  test.each([['stopped'], ['never-started']] as const)('that was %s leaves the job as it was', (why) => {
    expect(judge({ attempts: 2, crashes: 1 }, { why })).toEqual({ to: 'released', attempts: 2, crashes: 1 });
  });

  test('that was cancelled ends the job, however many retries are left', () => {
    expect(judge({ attempts: 1 }, { why: 'cancelled' })).toEqual({
      to: 'cancelled',
      attempts: 1,
      crashes: 0,
    });
  });
});

describe('a lost attempt counts as a crash, not as an attempt', () => {
  test.each([
    [0, 5, 'released'],
    [3, 5, 'released'],
    [4, 5, 'dead'],
    [9, 5, 'dead'],
    [0, 1, 'dead'],
  ] as const)('after %d crashes with limit %d: %s', (crashes, crashLimit, to) => {
    expect(judge({ attempts: 2, crashes }, { why: 'lost' }, { ...policy, crashLimit })).toEqual({
      to,
      attempts: 2,
      crashes: crashes + 1,
    });
  });

  test('earlier crashes stay when an attempt fails', () => {
    expect(judge({ crashes: 4 }, { why: 'timeout' })).toMatchObject({ to: 'failed', crashes: 4 });
  });
});

test('policyFromSettings takes every rule from the settings', () => {
  const stored = new Map([
    ['crash-limit', '2'],
    ['backoff-strategy', 'linear'],
    ['backoff-base', '1.5'],
    ['retry-delay', '7s'],
    ['backoff-max', '1m'],
    ['backoff-jitter', '0.25'],
  ]);
  expect(policyFromSettings(resolveSettings(stored))).toEqual({
    crashLimit: 2,
    backoff: { strategy: 'linear', base: 1.5, retryDelayMs: 7000, maxMs: 60_000, jitter: 0.25 },
  });
});

describe('a job with its own rules', () => {
  const exited = (code: number): Outcome => ({ why: 'exited', code });
  const cases: [JobPolicy, Outcome, Transition['to']][] = [
    [{ noRetryOn: [64, 65] }, exited(64), 'dead'],
    [{ noRetryOn: [64, 65] }, exited(66), 'failed'],
    [{ noRetryOn: [124] }, { why: 'timeout' }, 'dead'],
    [{ retryOn: [75] }, exited(75), 'failed'],
    [{ retryOn: [75] }, exited(1), 'dead'],
    [{ retryOn: [75] }, { why: 'spawn-error', message: 'no' }, 'failed'],
    [{ retryOn: [75], noRetryOn: [75] }, exited(75), 'dead'],
    [{ noRetryOn: [0] }, exited(0), 'completed'],
  ];
  test.each(cases)('with %j after %j: %s', (given, outcome, to) => {
    expect(judge({ policy: given }, outcome).to).toBe(to);
  });
});

describe('an at-most-once job', () => {
  const atMostOnce = { policy: { atMostOnce: true } };

  // An older version stored such jobs with three attempts.
  describe.each([0, 1, 3])('with max_retries %d', (maxRetries) => {
    test.each(FAILURES.map((outcome) => [outcome] as const))('is dead after %j', (outcome) => {
      expect(judge({ ...atMostOnce, maxRetries }, outcome)).toEqual({ to: 'dead', attempts: 1, crashes: 0 });
    });

    test('is dead after it was stopped, and no attempt is charged', () => {
      expect(judge({ ...atMostOnce, maxRetries }, { why: 'stopped' })).toEqual({
        ...{ to: 'dead', attempts: 0, crashes: 0 },
      });
    });

    test('is dead after it was lost, and the crash is counted', () => {
      expect(judge({ ...atMostOnce, maxRetries }, { why: 'lost' })).toEqual({
        ...{ to: 'dead', attempts: 0, crashes: 1 },
      });
    });

    test.each([
      [{ why: 'exited', code: 0 }, 'completed'],
      [{ why: 'cancelled' }, 'cancelled'],
      [{ why: 'never-started' }, 'released'],
    ] as [Outcome, Transition['to']][])('after %j is %s', (outcome, to) => {
      expect(judge({ ...atMostOnce, maxRetries }, outcome).to).toBe(to);
    });
  });

  test('may not start after a failure, unlike any other job', () => {
    expect(mayStart({ ...fresh, ...atMostOnce })).toBe(true);
    expect(mayStart({ ...fresh, ...atMostOnce, attempts: 1 })).toBe(false);
    expect(mayStart({ ...fresh, attempts: 1 })).toBe(true);
  });

  test('is dead after an exit code that is in retry_on', () => {
    expect(judge({ policy: { atMostOnce: true, retryOn: [75] } }, { why: 'exited', code: 75 }).to).toBe(
      'dead',
    );
  });
});
