import { expect, test } from 'bun:test';
import { readRoom } from '../../src/store/parts/claims.ts';
import { postgresEngine } from '../../src/store/postgres/engine.ts';
import { get, type Steps } from '../../src/store/steps.ts';
import type { Store } from '../../src/store/store.ts';
import { claimRequest, ensureRegistered, ids, jobSpec, NOW } from '../support/jobs.ts';
import { withPostgres } from '../support/postgres.ts';

const FORMER = 600;
const READ = "SELECT pg_stat_get_xact_tuples_returned('job_ready'::regclass) AS entries";

/** Queues, and how often a claim may read the entries of their former jobs. A claim from a limited queue looks again after its lock. */
const CASES: [title: string, queues: string[], prepare: (store: Store) => Promise<unknown>, times: number][] =
  [
    ['the only queue', ['a'], async () => {}, 1],
    ['several queues', ['a', 'b', 'c'], async () => {}, 1],
    ['a limited queue', ['a'], (store) => store.setQueue('a', { concurrency: 9 }), 2],
  ];

test.each(CASES)(
  'a claim from %s reads the entries of former jobs no more than once per look',
  (_, queues, prepare, times) =>
    withPostgres(async (store, db) => {
      await ensureRegistered(store, 'w1');
      const specs = (id: string, length: number) =>
        Array.from({ length }, (_, i) => jobSpec(`${id}-${i}`, { queue: queues[i % queues.length]! }));
      const former = await store.insert(specs('former', FORMER), NOW, (job) => job.id);
      await prepare(store);
      await db.withClient(async (old) => {
        await old.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
        await old.query('SELECT 1');
        await store.cancel(former, NOW);
        await store.insert(specs('live', 6), NOW);
        const engine = postgresEngine(db);
        const { taken, entries } = await engine.write('claim', function* (): Steps<{
          taken: string[];
          entries: number;
        }> {
          const request = claimRequest({ limit: 4 });
          const before = (yield* get<{ entries: number }>(READ))!.entries;
          const { rows } = yield* engine.takeJobs(request, yield* readRoom(engine, request), NOW);
          const { entries } = (yield* get<{ entries: number }>(READ))!;
          return { taken: ids(rows as { id: string }[]), entries: entries - before };
        });
        await old.query('ROLLBACK');
        expect(taken).toEqual([0, 1, 2, 3].map((i) => `live-${i}`));
        expect(entries).toBeGreaterThanOrEqual(times * FORMER);
        expect(entries).toBeLessThan((times + 0.5) * FORMER);
      });
    }),
);
