import type { Random } from '../../src/core/time/clock.ts';

/** Returns a random source and prints its seed. To repeat a run, set TEST_SEED to that seed. */
export function seededRandom(what: string): Random {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32)) >>> 0;
  console.info(`${what}: TEST_SEED=${seed}`);
  return randomFrom(seed);
}

/** Returns a random source that always produces the same numbers for the same seed. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  // The algorithm is mulberry32.
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns an integer from 0 to `limit` - 1. */
export function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

export function pick<T>(random: Random, items: readonly T[]): T {
  const found = items[below(random, items.length)];
  if (found === undefined) throw new Error('nothing to pick from');
  return found;
}
