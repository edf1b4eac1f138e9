import { expect, test } from 'bun:test';
import type { App } from '../../src/actions/app.ts';
import { statsSeries } from '../../src/actions/stats-series.ts';
import { COUNTS, PERIODS, type Period } from '../../src/core/figures.ts';
import { claimOne, ending, jobSpec, NOW, succeeded } from '../support/jobs.ts';
import { below, pick, seededRandom } from '../support/random.ts';
import { withSqlite } from '../support/sqlite.ts';

test('in every range the points and the names add up to the total', () =>
  withSqlite(async (store) => {
    const random = seededRandom('ranges');
    const now = NOW + below(random, 86_400_000);
    const times = Array.from({ length: 60 }, () => Math.floor(now - 10 ** (random() * 10))).sort(
      (a, b) => a - b,
    );
    for (const [i, at] of times.entries()) {
      await store.insert([jobSpec(`j${i}`, { name: pick(random, ['a', 'b', null]) })], at);
      await store.settle(ending(await claimOne(store, 'w1', at), succeeded, at));
    }
    const app = { store, clock: { now: () => now } } as App;
    for (const range of Object.keys(PERIODS) as Period[]) {
      const { points, total, names, from, step_ms } = await statsSeries(app, range, { names: true });
      expect(points).toHaveLength(PERIODS[range].points);
      expect(points.map((point) => Date.parse(point.at))).toEqual(
        points.map((_, i) => Date.parse(from) + i * step_ms),
      );
      for (const count of COUNTS) {
        const sum = (rows: { [key in typeof count]: number }[]) => rows.reduce((n, row) => n + row[count], 0);
        expect([range, count, sum(points), sum(names!)]).toEqual([range, count, total[count], total[count]]);
      }
      expect(total.completed).toBe(times.filter((at) => at >= Date.parse(from)).length);
      const some = await statsSeries(app, range, { name: 'a', queue: 'default' });
      const a = names!.find((one) => one.name === 'a');
      expect(some.total.completed).toBe(a?.completed ?? 0);
      expect(some.names).toBeNull();
    }
  }));
