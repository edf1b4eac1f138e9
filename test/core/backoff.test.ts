import { describe, expect, test } from 'bun:test';
import { type BackoffPolicy, backoffMs } from '../../src/core/rules/decide.ts';

const basePolicy: BackoffPolicy = {
  strategy: 'exponential',
  base: 2,
  retryDelayMs: 5000,
  maxMs: null,
  jitter: 0,
};
const random = () => 0.999;
const delaysOf = (policy: Partial<BackoffPolicy>, attempts = [1, 2, 3]) =>
  attempts.map((n) => backoffMs({ ...basePolicy, ...policy }, n, random));

describe('without a maximum delay', () => {
  test.each([
    [{}, [2000, 4000, 8000]],
    [{ base: 3 }, [3000, 9000, 27_000]],
    [{ base: 1 }, [1000, 1000, 1000]],
    [{ base: 1.1 }, [1100, 1210, 1331]],
    [{ strategy: 'fixed' }, [5000, 5000, 5000]],
    [{ strategy: 'linear' }, [5000, 10_000, 15_000]],
    [{ strategy: 'fixed', retryDelayMs: 0 }, [0, 0, 0]],
  ] as const)('the policy %j has the delays %j', (policy, expected) => {
    expect(delaysOf(policy)).toEqual([...expected]);
  });

  test('an enormous delay still gives a valid date', () => {
    const [ms] = delaysOf({ base: 1000 }, [1000]);
    expect(Number.isSafeInteger(ms)).toBe(true);
    expect(new Date(Date.UTC(2030, 0) + ms!).getUTCFullYear()).toBeGreaterThan(2035);
  });
});

describe('with a maximum delay', () => {
  test.each([
    [{ maxMs: 5000 }, [2000, 4000, 5000]],
    [{ maxMs: 1 }, [1, 1, 1]],
    [{ strategy: 'linear', maxMs: 12_000 }, [5000, 10_000, 12_000]],
  ] as const)('the policy %j has the delays %j', (policy, expected) => {
    expect(delaysOf(policy)).toEqual([...expected]);
  });
});

describe('jitter', () => {
  test.each([
    [0, 0.5, 8000],
    [1, 0, 8000],
    [1, 0.5, 4000],
    [0.5, 0.5, 6000],
    [0.1, 0.25, 7800],
  ] as const)('jitter %p with random value %p turns 8 s into %d ms', (jitter, randomValue, ms) => {
    expect(backoffMs({ ...basePolicy, jitter }, 3, () => randomValue)).toBe(ms);
  });

  test('jitter shortens a capped delay', () => {
    expect(backoffMs({ ...basePolicy, maxMs: 5000, jitter: 1 }, 9, () => 0.5)).toBe(2500);
  });
});
