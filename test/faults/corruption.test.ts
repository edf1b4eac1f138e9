import { expect, test } from 'bun:test';
import { corruption } from './f21-corruption.ts';

test('F21, small: damaged files are noticed, told of and saved as far as they can be read', async () => {
  const seed = Number(process.env.TEST_SEED ?? Math.floor(Math.random() * 1_000_000));
  console.info(`F21: TEST_SEED=${seed}`);
  const figures = await corruption(56, seed);
  const { crashes, silent, badRepairs } = figures;
  expect({ crashes, silent, badRepairs }).toEqual({ crashes: [], silent: [], badRepairs: [] });
  expect(figures.detected).toBeGreaterThan(10);
  expect(figures.repaired).toBeGreaterThan(5);
});
