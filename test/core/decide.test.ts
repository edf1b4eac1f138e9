import { describe, expect, test } from 'bun:test';
import type { JobPolicy } from '../../src/core/jobs/job.ts';
import {
  decide,
  mayStart,
  type Outcome,
  type Policy,
  policyFromSettings,
  type Transition,
} from '../../src/core/rules/decide.ts';
import { resolveSettings } from '../../src/core/settings/stored-settings.ts';

const NOW = 1_000_000;
const policy = policyFromSettings(resolveSettings(new Map()));
const freshJob = {
  attempts: 0,
  crashes: 0,
  maxRetries: 3,
  backoffBase: null as number | null,
  policy: {} as JobPolicy,
};
const decideOn = (job: Partial<typeof freshJob>, outcome: Outcome, rules: Policy = policy): Transition =>
  decide({ ...freshJob, ...job }, outcome, rules, NOW, () => 0.5);

describe('a successful attempt', () => {
  test.each([0, 1, 3, 4])('with max_retries %d completes the job and is counted', (maxRetries) => {
    expect(decideOn({ maxRetries }, { why: 'exited', code: 0 })).toEqual({
      to: 'completed',
      attempts: 1,
      crashes: 0,
    });
  });

  test('can be the last allowed one', () => {
    expect(decideOn({ attempts: 2 }, { why: 'exited', code: 0 })).toMatchObject({
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
  test.each(FAILURES.map((outcome) => [outcome] as const))(
    'with the outcome %j is retried, but the third one makes the job dead',
    (outcome) => {
      expect(decideOn({}, outcome)).toEqual({ to: 'failed', attempts: 1, crashes: 0, nextRunAt: NOW + 2000 });
      expect(decideOn({ attempts: 2 }, outcome)).toEqual({ to: 'dead', attempts: 3, crashes: 0 });
    },
  );
});

describe('max_retries is the maximum number of attempts', () => {
  test.each([
    [0, []],
    [1, []],
    [2, [2000]],
    [3, [2000, 4000]],
    [4, [2000, 4000, 8000]],
  ] as const)('a job with max_retries %d has the delays %j and is then dead', (maxRetries, expected) => {
    const delays: number[] = [];
    let attempts = 0;
    for (;;) {
      const next = decideOn({ attempts, maxRetries }, { why: 'exited', code: 1 });
      expect(next.attempts).toBe(++attempts);
      if (next.to !== 'failed') {
        expect(next.to).toBe('dead');
        break;
      }
      delays.push(next.nextRunAt - NOW);
    }
    expect(delays).toEqual([...expected]);
  });

  test('a job that has made more attempts than its limit is dead after the next failure', () => {
    expect(decideOn({ attempts: 7 }, { why: 'exited', code: 1 })).toMatchObject({ to: 'dead', attempts: 8 });
  });
});

describe('the backoff base', () => {
  const delayOf = (base: number | null, attempts: number) => {
    const next = decideOn({ attempts, maxRetries: 9, backoffBase: base }, { why: 'exited', code: 1 });
    return next.to === 'failed' ? next.nextRunAt - NOW : next.to;
  };

  test.each([
    [null, 0, 2000],
    [3, 0, 3000],
    [3, 1, 9000],
    [1.5, 0, 1500],
    [1.5, 2, 3375],
    [1, 5, 1000],
  ] as const)(
    'a job with the base %p that fails after %d earlier attempts waits %d ms',
    (base, attempts, ms) => {
      expect(delayOf(base, attempts)).toBe(ms);
    },
  );

  test('a job with its own base has the maximum and the jitter of the settings', () => {
    const rules: Policy = { ...policy, backoff: { ...policy.backoff, maxMs: 5000, jitter: 1 } };
    const next = decideOn({ maxRetries: 9, backoffBase: 10 }, { why: 'exited', code: 1 }, rules);
    expect(next).toMatchObject({ to: 'failed', nextRunAt: NOW + 2500 });
  });
});

describe("a job's own backoff", () => {
  const backoff = { strategy: 'exponential', base: 2, retryDelayMs: 5000, maxMs: 3000, jitter: 1 } as const;
  test.each([
    [{ jitter: 0 }, 3000],
    [{ jitter: 0, backoffMaxMs: 60_000 }, 8000],
    [{ jitter: 0.5, backoffMaxMs: 60_000 }, 6000],
    [{ jitter: 0, backoff: 'linear', backoffMaxMs: 60_000 }, 15_000],
    [{ jitter: 0, backoff: 'fixed', retryDelayMs: 700 }, 700],
    [{ jitter: 0, backoff: 'fixed', retryDelayMs: 0 }, 0],
    [{}, 1500],
  ] as [JobPolicy, number][])('%j, completed by the settings, gives a third delay of %d ms', (given, ms) => {
    const rules: Policy = { ...policy, backoff };
    const next = decideOn({ attempts: 2, maxRetries: 9, policy: given }, { why: 'exited', code: 1 }, rules);
    expect(next).toMatchObject({ to: 'failed', nextRunAt: NOW + ms });
  });
});

describe('an uncharged attempt', () => {
  test.each([['stopped'], ['never-started']] as const)(
    'that was %s releases the job with the same counts',
    (why) => {
      expect(decideOn({ attempts: 2, crashes: 1 }, { why })).toEqual({
        to: 'released',
        attempts: 2,
        crashes: 1,
      });
    },
  );

  test('that was cancelled ends the job although retries are left', () => {
    expect(decideOn({ attempts: 1 }, { why: 'cancelled' })).toEqual({
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
  ] as const)('after %d earlier crashes with the limit %d, the job is %s', (crashes, crashLimit, to) => {
    expect(decideOn({ attempts: 2, crashes }, { why: 'lost' }, { ...policy, crashLimit })).toEqual({
      to,
      attempts: 2,
      crashes: crashes + 1,
    });
  });

  test('a failed attempt does not change the number of crashes', () => {
    expect(decideOn({ crashes: 4 }, { why: 'timeout' })).toMatchObject({ to: 'failed', crashes: 4 });
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

describe('retry_on and no_retry_on', () => {
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
  test.each(cases)('a job with %j and the outcome %j is %s', (given, outcome, to) => {
    expect(decideOn({ policy: given }, outcome).to).toBe(to);
  });
});

describe('an at-most-once job', () => {
  const atMostOnce = { policy: { atMostOnce: true } };

  // An imported file can contain such jobs with max_retries 3.
  describe.each([0, 1, 3])('with max_retries %d', (maxRetries) => {
    test.each(FAILURES.map((outcome) => [outcome] as const))('is dead after %j', (outcome) => {
      expect(decideOn({ ...atMostOnce, maxRetries }, outcome)).toEqual({
        to: 'dead',
        attempts: 1,
        crashes: 0,
      });
    });

    test('is dead after it was stopped, and no attempt is charged', () => {
      expect(decideOn({ ...atMostOnce, maxRetries }, { why: 'stopped' })).toEqual({
        ...{ to: 'dead', attempts: 0, crashes: 0 },
      });
    });

    test('is dead after it was lost, and the crash is counted', () => {
      expect(decideOn({ ...atMostOnce, maxRetries }, { why: 'lost' })).toEqual({
        ...{ to: 'dead', attempts: 0, crashes: 1 },
      });
    });

    test.each([
      [{ why: 'exited', code: 0 }, 'completed'],
      [{ why: 'cancelled' }, 'cancelled'],
      [{ why: 'never-started' }, 'released'],
    ] as [Outcome, Transition['to']][])('after %j is %s', (outcome, to) => {
      expect(decideOn({ ...atMostOnce, maxRetries }, outcome).to).toBe(to);
    });
  });

  test('cannot start after a failure, unlike other jobs', () => {
    expect(mayStart({ ...freshJob, ...atMostOnce })).toBe(true);
    expect(mayStart({ ...freshJob, ...atMostOnce, attempts: 1 })).toBe(false);
    expect(mayStart({ ...freshJob, attempts: 1 })).toBe(true);
  });

  test('is dead after an exit code that is in retry_on', () => {
    expect(decideOn({ policy: { atMostOnce: true, retryOn: [75] } }, { why: 'exited', code: 75 }).to).toBe(
      'dead',
    );
  });
});
