import { expect, test } from 'bun:test';
import { foldAfterWrites } from '../../src/store/parts/log.ts';
import { jobChange, jobRemoval } from '../../src/store/postgres/change-jobs.ts';
import type { ServerConnection } from '../../src/store/postgres/connection/connection.ts';
import { postgresEngine, runSteps } from '../../src/store/postgres/engine.ts';
import { type Engine, recordEvent } from '../../src/store/steps.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { withPostgres } from '../support/postgres.ts';
import { until } from '../support/queuectl.ts';

const hold = jobChange({
  where: "id = ANY($6) AND phase IN ('ready', 'waiting')",
  set: "phase = 'held', updated_at = $5",
});
const cancel = jobChange({
  where: 'id = ANY($6)',
  set: "state = 'cancelled', phase = 'ended', due_at = NULL, finished_at = $5, updated_at = $5",
  isDrop: true,
});
const remove = jobRemoval('id = ANY($6)');

const countRows = (db: ServerConnection) =>
  db.read((tx) =>
    tx.all(`SELECT queue.name AS queue, state, count(*) AS jobs FROM job JOIN queue ON queue.number = job.queue
      GROUP BY queue.name, state ORDER BY 1, 2`),
  );

test('changes and removals of jobs are counted before and after the log is folded', () =>
  withPostgres(async (store, db) => {
    await store.insert(
      ['a', 'b', 'c', 'd'].map((id) => jobSpec(id, { queue: id === 'd' ? 'other' : 'default' })),
      NOW,
    );
    await db.write('hold', async (tx) => {
      const { changeJobs } = postgresEngine(db);
      const held = await runSteps(tx, changeJobs(hold, { kind: 'held' }, NOW, ['b', 'a', 'nobody']));
      expect(held.map((job) => [job.id, job.phase])).toEqual([
        ['a', 'held'],
        ['b', 'held'],
      ]);
      await runSteps(tx, changeJobs(cancel, { kind: 'cancelled' }, NOW, ['c']));
      await runSteps(tx, changeJobs(remove, { kind: 'deleted' }, NOW, ['a']));
    });
    const byQueue = (counts: { queue: string; state: string }[]) =>
      counts.toSorted((a, b) => `${a.queue} ${a.state}`.localeCompare(`${b.queue} ${b.state}`));
    expect(byQueue(await store.counts())).toEqual((await countRows(db)) as never);
    const events = await store.events(0, 100);
    expect(events.map(({ number, kind, jobId }) => `${number} ${kind} ${jobId}`)).toEqual([
      ...['1 enqueued null', '2 enqueued b', '3 enqueued c', '4 enqueued d'],
      ...['5 held a', '6 held b', '7 cancelled c', '8 deleted a'],
    ]);
    expect(await db.read((tx) => tx.all('SELECT * FROM log'))).toEqual([]);
    expect(byQueue(await store.counts())).toEqual((await countRows(db)) as never);
    const figures = await db.read((tx) =>
      tx.all('SELECT sum(enqueued) AS enqueued, sum(dropped) AS dropped FROM rollup WHERE tier = 0'),
    );
    expect(figures).toEqual([{ enqueued: 4, dropped: 1 }]);
  }));

test('the log is folded after a write, even if an earlier fold has failed', () =>
  withPostgres(async (_, db) => {
    let failures = 0;
    const engine = postgresEngine(db);
    const write: Engine['write'] = (verb, work, options) => {
      if (verb !== 'fold' || failures > 0) return engine.write(verb, work, options);
      failures++;
      return Promise.reject(new Error('the server is away'));
    };
    const stop = foldAfterWrites({ ...engine, write }, db.onCommitted, 250);
    const note = () =>
      engine.write('note', () => recordEvent(engine, { kind: 'queue-deleted', detail: { queue: 'x' } }));
    await note();
    await until(() => failures === 1, 'a fold fails');
    await note();
    await until(
      async () => (await db.read((tx) => tx.get('SELECT 1 FROM log'))) === undefined,
      'the log is folded',
    );
    stop();
  }));

test('no reader of events misses one while many writers commit and many readers fold', () =>
  withPostgres(async (store) => {
    let isWriting = true;
    const readAll = async (): Promise<number[]> => {
      const seen: number[] = [];
      const read = async (): Promise<void> => {
        for (const { number } of await store.events(seen.at(-1) ?? 0, 1000)) seen.push(number);
      };
      while (isWriting) await read();
      await read();
      return seen;
    };
    const readers = Array.from({ length: 3 }, readAll);
    const writers = Array.from({ length: 3 }, async (_, writer) => {
      for (let i = 0; i < 60; i++) await store.insert([jobSpec(`${writer}-${i}`)], NOW);
    });
    await Promise.all(writers);
    isWriting = false;
    const expected = Array.from({ length: 180 }, (_, i) => i + 1);
    expect(await Promise.all(readers)).toEqual([expected, expected, expected]);
  }));
