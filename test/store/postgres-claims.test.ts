import { expect, test } from 'bun:test';
import {
  claim,
  claimRequest,
  ending,
  ids,
  jobSpec,
  NOW,
  newWorker,
  startJob,
  succeeded,
} from '../support/jobs.ts';
import { withPostgres } from '../support/postgres.ts';
import { until } from '../support/queuectl.ts';

test('jobs whose rows cannot be read are held, and the others are claimed in their order', () =>
  withPostgres(async (store, db) => {
    await store.insert(
      ['a', 'bad', 'b', 'worse', 'c'].map((id) => jobSpec(id)),
      NOW,
    );
    await db.write('edit', (tx) => tx.run("UPDATE job SET argv = '{' WHERE id IN ('bad', 'worse')"));
    expect(ids(await claim(store, { limit: 3 }))).toEqual(['a', 'b', 'c']);
    expect(await store.get('bad')).toMatchObject({
      ...{ state: 'pending', held: true, attempts: 0, workerId: null },
      lastError: "cannot be started: the argv of job 'bad' is not valid JSON for this column",
    });
    expect(await store.get('worse')).toMatchObject({ held: true });
    const events = (await store.events(0, 99)).filter(
      (event) => event.jobId !== null && event.kind !== 'enqueued',
    );
    expect(events.map(({ kind, jobId }) => `${kind} ${jobId}`)).toEqual([
      ...['held bad', 'held worse', 'started a', 'started b', 'started c'],
    ]);
    expect(await store.counts()).toEqual(
      expect.arrayContaining([
        { queue: 'default', state: 'pending', jobs: 2 },
        { queue: 'default', state: 'processing', jobs: 3 },
      ]),
    );
  }));

test('a settlement with the right token and another attempt changes nothing, as after a failover that lost claims', () =>
  withPostgres(async (store) => {
    await store.insert([jobSpec('a'), jobSpec('b')], NOW);
    const [a, b] = await claim(store, { limit: 2 });
    const mixed = { ...a!, claim: { ...a!.claim, attempt: b!.claim.attempt } };
    expect(await store.settle(ending(mixed, succeeded))).toBe('lost');
    expect(await store.settle(ending(mixed, { why: 'never-started' }))).toBe('lost');
    expect([(await store.get('a'))!.state, (await store.get('b'))!.state]).toEqual([
      'processing',
      'processing',
    ]);
    expect(await store.settle(ending(b!, succeeded))).toBe('applied');
    expect(await store.settle(ending(a!, succeeded))).toBe('applied');
  }));

test('a worker without a lease gets no jobs, and settles those that it has', () =>
  withPostgres(async (store) => {
    const job = await startJob(store, 'a');
    await store.insert([jobSpec('b')], NOW);
    await store.beat('w1', false, 1, NOW);
    await until(async () => !(await store.workers())[0]!.hasLease, 'the lease is over');
    const settlements = [ending(job, succeeded)];
    expect(await store.claim(claimRequest({ settlements, limit: 1 }), NOW)).toMatchObject({
      ...{ settled: ['applied'], jobs: [] },
    });
    await store.setQueue('default', { concurrency: 3 });
    expect((await store.claim(claimRequest(), NOW)).jobs).toEqual([]);
    expect(await store.beat('w1', false, 60_000, NOW)).toBeNull();
    await store.unregister('w1');
    await store.register(newWorker('w1'));
    expect(ids((await store.claim(claimRequest(), NOW)).jobs)).toEqual(['b']);
  }));

test('a worker that is not registered gets no jobs', () =>
  withPostgres(async (store) => {
    await store.insert([jobSpec('a')], NOW);
    expect((await store.claim(claimRequest({ ahead: 1 }), NOW)).jobs).toEqual([]);
    await store.register(newWorker('w1'));
    expect(ids((await store.claim(claimRequest({ ahead: 1 }), NOW)).jobs)).toEqual(['a']);
  }));
