/** Returns a random seed for a test and prints it, or the seed to repeat. */
export function seedOf(test: string): number {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32)) >>> 0;
  console.info(`${test}: TEST_SEED=${seed}`);
  return seed;
}
