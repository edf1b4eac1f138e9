/** Returns the seed in TEST_SEED, or a random one, and prints it. */
export function seedOf(test: string): number {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 2 ** 32)) >>> 0;
  console.info(`${test}: TEST_SEED=${seed}`);
  return seed;
}
