import { expect, test } from 'bun:test';
import type { App } from '../../src/actions/app.ts';
import { lastEvents } from '../../src/actions/events.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { withSqlite } from '../support/sqlite.ts';

test('a search for the events of a job stops at its time limit, and further searches from there find each event once', () =>
  withSqlite(async (store) => {
    const addOthers = async (count: number, prefix: string): Promise<void> => {
      const specs = Array.from({ length: count }, (_, i) => jobSpec(`${prefix}-${i}`));
      await store.insert(specs, NOW, () => null);
    };
    await store.insert([jobSpec('a')], NOW);
    await addOthers(45_000, 'x');
    await store.hold(['a'], NOW);
    await addOthers(25_000, 'y');
    await store.release(['a'], NOW);
    // The clock advances by `stepMs` at each reading, so that the time limit is reached at once (1000) or never (0).
    for (const [stepMs, maxSearches] of [
      [1000, 5],
      [0, 1],
    ] as const) {
      let now = 0;
      const monotonic = (): number => {
        now += stepMs;
        return now;
      };
      const app = { store, clock: { ...systemClock, monotonic } } as App;
      const kinds: string[] = [];
      let searches = 0;
      for (let to = await store.lastEventNumber(); to > 0; searches++) {
        const { events, next } = await lastEvents(app, 10, to, { jobId: 'a' });
        kinds.push(...events.map((event) => event.kind));
        expect(next).toBeLessThan(to);
        to = next;
      }
      expect(kinds).toEqual(['released', 'held', 'enqueued']);
      expect(searches).toBeLessThanOrEqual(maxSearches);
      if (stepMs > 0) expect(searches).toBeGreaterThan(2);
    }
  }));
