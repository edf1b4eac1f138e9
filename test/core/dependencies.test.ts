import { expect, test } from 'bun:test';
import { findCycle } from '../../src/core/jobs/dependencies.ts';

const graph = (edges: Record<number, number[]>): Map<number, number[]> =>
  new Map(Object.entries(edges).map(([child, parents]) => [Number(child), parents]));

test('diamonds, forests and dependencies on jobs outside the graph are no cycles', () => {
  expect(findCycle(graph({}))).toBeNull();
  expect(findCycle(graph({ 4: [2, 3], 2: [1], 3: [1], 7: [6, 99] }))).toBeNull();
  expect(findCycle(graph({ 1: [2, 3, 4], 2: [3, 4], 3: [4] }))).toBeNull();
});

test('a cycle is listed with its first member repeated at the end', () => {
  expect(findCycle(graph({ 1: [1] }))).toEqual([1, 1]);
  expect(findCycle(graph({ 1: [2], 2: [3], 3: [1] }))).toEqual([1, 2, 3, 1]);
  expect(findCycle(graph({ 9: [8], 8: [1, 7], 7: [6], 6: [8] }))).toEqual([6, 8, 7, 6]);
});

test('a chain of 100,000 jobs is checked, with and without a cycle', () => {
  const chain = new Map(Array.from({ length: 100_000 }, (_, i) => [i, [i + 1]] as const));
  expect(findCycle(chain)).toBeNull();
  expect(findCycle(new Map([...chain, [100_000, [0]]]))).toHaveLength(100_002);
});
