import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import {
  claimOne,
  claimRequest,
  ending,
  failedWith,
  jobSpec,
  NOW,
  newWorker,
  succeeded,
} from '../support/jobs.ts';
import { inTempDir } from '../support/temp-dir.ts';
import { brokenInvariants, readChanges, startAudit } from './audit.ts';
import { check, type ViolationKind } from './checker.ts';

/** Runs `work` on an audited queue and returns the kinds of violations that the audit finds. */
function violationsAfter(work: (store: Store, db: DatabaseSync) => Promise<void>): Promise<ViolationKind[]> {
  return inTempDir(async (directory) => {
    const path = join(directory, 'queue.db');
    const { store } = await openSqlite(path);
    startAudit(path);
    const db = new DatabaseSync(path);
    try {
      for (const id of ['w1', 'w2']) await store.register(newWorker(id));
      await work(store, db);
      const changes = readChanges(path);
      const nothingElse = { enqueued: [], witness: [], jobs: [], logged: [], orphans: [] };
      const found = check({ ...nothingElse, changes, once: 'all' });
      return [...found, ...brokenInvariants(path)].map((one) => one.kind);
    } finally {
      db.close();
      await store.close();
    }
  });
}

/** Makes many kinds of changes: jobs complete and fail, are adopted, requeued, cancelled, retried, deleted and pruned. */
async function makeManyChanges(store: Store): Promise<void> {
  await store.insert(
    ['a', 'b', 'c', 'd', 'e'].map((id) => jobSpec(id)),
    NOW,
  );
  const a = await claimOne(store);
  await store.adopt(a.claim, 'w2');
  const [held] = await store.runningJobs();
  await store.claim(claimRequest({ workerId: 'w2', limit: 0, settlements: [ending(held!, succeeded)] }), NOW);
  const b = await claimOne(store);
  await store.claim(claimRequest({ limit: 0, settlements: [ending(b, failedWith(1))] }), NOW);
  const c = await claimOne(store);
  await store.claim(claimRequest({ limit: 0, settlements: [ending(c, { why: 'never-started' })] }), NOW);
  await store.cancel(['d', 'e'], NOW);
  await store.retry(['d'], ['cancelled'], NOW);
  await store.remove(['e'], ['cancelled'], NOW);
  await store.prune('completed', { ageMs: 1, count: null, bytes: null }, NOW + 10 ** 9);
}

test('the audit finds nothing wrong with changes by the store', async () => {
  expect(await violationsAfter(makeManyChanges)).toEqual([]);
});

test('the audit finds an adoption without a new token, in the job and in the attempt', async () => {
  for (const table of ['job', 'attempt'])
    expect(
      await violationsAfter(async (store, db) => {
        await store.insert([jobSpec('a')], NOW);
        await claimOne(store);
        db.exec(`UPDATE ${table} SET worker_id = 'w2'`);
      }),
    ).toEqual(['stale']);
});

test('the audit finds a settlement by a worker that does not hold the job', async () => {
  expect(
    await violationsAfter(async (store) => {
      await store.insert([jobSpec('a')], NOW);
      const job = await claimOne(store);
      await store.claim(
        claimRequest({ workerId: 'w2', limit: 0, settlements: [ending(job, succeeded)] }),
        NOW,
      );
    }),
  ).toEqual(['stale']);
});

test('the audit finds a missing event, unless retention removed it', async () => {
  expect(
    await violationsAfter(async (store, db) => {
      await makeManyChanges(store);
      db.exec("UPDATE event SET kind = 'edited' WHERE kind = 'failed'");
    }),
  ).toEqual(['invariant']);
  expect(
    await violationsAfter(async (store) => {
      await makeManyChanges(store);
      await store.pruneEvents({ ageMs: null, count: 3 }, NOW);
    }),
  ).toEqual([]);
});
