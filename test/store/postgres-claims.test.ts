import { expect, test } from 'bun:test';
import { claim, ids, jobSpec, NOW } from '../support/jobs.ts';
import { withPostgres } from '../support/postgres.ts';

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
      lastError: "cannot be started: the argv of job 'bad' is not valid JSON",
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
