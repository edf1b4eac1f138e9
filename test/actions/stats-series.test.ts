import { expect, test } from 'bun:test';
import type { App } from '../../src/actions/app.ts';
import { statsSeries } from '../../src/actions/stats.ts';
import { COUNT_NAMES, PERIODS, type Period } from '../../src/core/rules/figures.ts';
import { toIso } from '../../src/core/time/time.ts';
import { claimOne, ending, jobSpec, NOW, succeeded } from '../support/jobs.ts';
import { below, pick, seededRandom } from '../support/random.ts';
import { withSqlite } from '../support/sqlite.ts';

test('in every range, both the points and the names add up to the total', () =>
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
      const { points, total, names, from, step_ms } = await statsSeries(app, range, { withNames: true });
      expect(points).toHaveLength(PERIODS[range].points);
      expect(points.map((point) => Date.parse(point.at))).toEqual(
        points.map((_, i) => Date.parse(from) + i * step_ms),
      );
      for (const count of COUNT_NAMES) {
        const sum = (rows: { [key in typeof count]: number }[]) => rows.reduce((n, row) => n + row[count], 0);
        expect([range, count, sum(points), sum(names!)]).toEqual([range, count, total[count], total[count]]);
      }
      expect(total.completed).toBe(times.filter((at) => at >= Date.parse(from)).length);
      const filtered = await statsSeries(app, range, { name: 'a', queue: 'default' });
      const rowOfA = names!.find((one) => one.name === 'a');
      expect(filtered.total.completed).toBe(rowOfA?.completed ?? 0);
      expect(filtered.names).toBeNull();
    }
  }));

test('each step has the age of its oldest waiting job, from samples and from the jobs that wait now', () =>
  withSqlite(async (store) => {
    const MINUTE = 60_000;
    const now = NOW + 30 * MINUTE;
    const app = { store, clock: { now: () => now } } as App;
    const ages = async (options = {}) =>
      (await statsSeries(app, '1h', options)).points.map((point) => point.oldest_waiting_ms);
    expect(await statsSeries(app, '1h')).toMatchObject({ data_from: null });
    // This job waited for three minutes, and was sampled after two.
    await store.insert([jobSpec('gone', { queue: 'a', name: 'n' })], NOW);
    await store.sampleWaiting(NOW + 2 * MINUTE);
    await store.cancel(['gone'], NOW + 3 * MINUTE);
    // This job still waits, and no worker has taken a sample of it.
    await store.insert([jobSpec('stuck', { queue: 'b' })], NOW + 20 * MINUTE);
    const empty = (count: number): null[] => Array(count).fill(null);
    const stuck = [...Array.from({ length: 10 }, (_, i) => (i + 1) * MINUTE), 10 * MINUTE];
    expect((await ages()).slice(29)).toEqual([...empty(2), 2 * MINUTE, ...empty(17), ...stuck]);
    expect(await ages({ queue: 'a' })).toEqual([...empty(31), 2 * MINUTE, ...empty(28)]);
    expect((await ages({ queue: 'b' })).slice(49)).toEqual(stuck);
    expect(await ages({ name: 'n' })).toEqual(empty(60));
    expect(await statsSeries(app, '1h')).toMatchObject({ data_from: toIso(NOW) });
    expect(await statsSeries(app, '1h', { queue: 'b' })).toMatchObject({
      data_from: toIso(NOW + 20 * MINUTE),
    });
    const { names } = await statsSeries(app, '1h', { withNames: true });
    expect(names!.map(({ queue, name }) => [queue, name])).toEqual([
      ['a', 'n'],
      ['b', null],
    ]);
  }));
