import { expect, test } from 'bun:test';
import type { App } from '../../src/actions/app.ts';
import type { JobFilter } from '../../src/core/jobs/filter.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { jobPage } from '../../src/http/routes/jobs.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import type { Store } from '../../src/store/store.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { withSqlite } from '../support/sqlite.ts';

const JOB_COUNT = 4500;

async function fill(store: Store): Promise<void> {
  const specs = Array.from({ length: JOB_COUNT }, (_, i) =>
    jobSpec(`j${i}`, {
      command: i % 1500 === 0 ? 'seldom' : 'often',
      queue: i % 3 === 0 ? 'third' : 'default',
      tags: { kind: i % 1500 === 0 ? 'seldom' : 'often' },
      priority: i % 1500 === 0 ? 7 : 0,
    }),
  );
  await store.insert(specs, NOW);
}

/** Creates an app whose clock advances by `stepMs` with every reading. */
function appOf(store: Store, stepMs: number): App {
  let now = 0;
  const monotonic = (): number => {
    now += stepMs;
    return now;
  };
  return { store, stateDirectory: stateDirectory('/nowhere'), clock: { ...systemClock, monotonic } } as App;
}

async function pagesOf(app: App, filter: JobFilter, limit = 50) {
  const pages: Awaited<ReturnType<typeof jobPage>>[] = [];
  for (let cursor: string | null = ''; cursor !== null; cursor = pages.at(-1)!.next_cursor) {
    const query: Record<string, string> = { limit: String(limit), ...(cursor === '' ? {} : { cursor }) };
    pages.push(await jobPage(app, filter, { one: (name) => query[name] }));
  }
  return pages;
}

const FILTERS: JobFilter[] = [
  { text: 'SELDOM' },
  { text: 'seldom', queue: 'third' },
  { tags: { kind: 'seldom' } },
  { tags: { kind: 'seldom' }, states: ['pending'] },
  { conditions: [{ field: 'priority', operator: '>', value: 5 }] },
];

test('a page that reaches its time limit returns its position, and the next pages find each remaining job once', () =>
  withSqlite(async (store) => {
    await fill(store);
    const all = [3000, 1500, 0].map((i) => `j${i}`);
    for (const filter of FILTERS) {
      const pages = await pagesOf(appOf(store, 1000), filter);
      expect(pages.flatMap((page) => page.jobs.map((job) => job.id))).toEqual(all);
      expect(pages.length).toBeGreaterThan(3);
      expect(pages.some((page) => page.jobs.length === 0 && page.next_cursor !== null)).toBe(true);
      // The count stopped at the time limit, so it is marked as capped.
      expect(pages[0]!.count.capped).toBe(true);
      expect(pages[0]!.count.value).toBeLessThan(3);
    }
  }));

test('with enough time one page has all matching jobs and their exact count', () =>
  withSqlite(async (store) => {
    await fill(store);
    for (const filter of FILTERS) {
      const [page, ...more] = await pagesOf(appOf(store, 0), filter);
      expect(more).toEqual([]);
      expect(page!.jobs).toHaveLength(3);
      expect(page!.count).toEqual({ value: 3, capped: false });
      // Every page has the count of all matching jobs.
      const counts = (await pagesOf(appOf(store, 0), filter, 2)).map((one) => [
        one.jobs.length,
        one.count.value,
      ]);
      expect(counts.slice(0, 2)).toEqual([
        [2, 3],
        [1, 3],
      ]);
    }
  }));
