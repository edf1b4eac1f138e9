import type { Figures as Outcome } from './fault.ts';

/** How much of a fault test is run: seconds in `npm test`, or as much as the published figures say. */
export type Scale = 'small' | 'full';

/** What a run came to, and which run it was. */
export interface Figures extends Outcome {
  test: string;
  notes: string;
  seed: number;
}

/** For a test: a seed of its own, printed, or the one to be repeated. */
export function seedOf(test: string): number {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32)) >>> 0;
  console.info(`${test}: TEST_SEED=${seed}`);
  return seed;
}
