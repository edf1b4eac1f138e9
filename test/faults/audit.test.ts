import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { openDatabase } from '../support/database.ts';
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
import { openTempPostgres } from '../support/postgres.ts';
import { makeTempDir } from '../support/temp-dir.ts';
import { type Audit, sqliteAudit } from './audit.ts';
import { check, type ViolationKind } from './checker.ts';
import { postgresAudit, withClient } from './postgres-audit.ts';

interface AuditedStore {
  store: Store;
  audit: Audit;
  /** Changes rows behind the back of the store. */
  exec(sql: string): Promise<void>;
  close(): Promise<void>;
}

async function openAuditedFile(): Promise<AuditedStore> {
  const { path: directory, remove } = makeTempDir();
  const path = join(directory, 'queue.db');
  const { store } = await openSqlite(path);
  const db = openDatabase(path);
  const close = async (): Promise<void> => {
    db.close();
    await store.close();
    remove();
  };
  return { store, audit: sqliteAudit(path), exec: async (sql) => db.exec(sql), close };
}

async function openAuditedSchema(): Promise<AuditedStore> {
  const { store, url, cleanup } = await openTempPostgres();
  const fold = async (): Promise<void> => void (await store.lastEventNumber());
  const exec = async (sql: string): Promise<void> => {
    await fold();
    await withClient(url, (client) => client.query(sql));
  };
  const close = async (): Promise<void> => {
    await store.close();
    await cleanup();
  };
  return { store, audit: postgresAudit(url, fold), exec, close };
}

type Work = (store: Store, exec: AuditedStore['exec']) => Promise<void>;

/** Runs `work` on an audited store and returns the kinds of violations that the audit finds. */
async function violationsAfter(open: () => Promise<AuditedStore>, work: Work): Promise<ViolationKind[]> {
  const { store, audit, exec, close } = await open();
  try {
    await audit.start();
    for (const id of ['w1', 'w2']) await store.register(newWorker(id));
    await work(store, exec);
    const nothingElse = { enqueued: [], witness: [], jobs: [], logged: [], orphans: [] };
    const found = check({ ...nothingElse, changes: await audit.readChanges(), once: 'all' });
    return [...found, ...(await audit.brokenInvariants())].map((one) => one.kind);
  } finally {
    await close();
  }
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

describe.each([
  ['SQLite', openAuditedFile],
  ['PostgreSQL', openAuditedSchema],
])('the audit of a store in %s', (_, open) => {
  test('finds nothing wrong with changes by the store', async () => {
    expect(await violationsAfter(open, makeManyChanges)).toEqual([]);
  });

  test('finds an adoption without a new token, in the job and in the attempt', async () => {
    for (const table of ['job', 'attempt'])
      expect(
        await violationsAfter(open, async (store, exec) => {
          await store.insert([jobSpec('a')], NOW);
          await claimOne(store);
          await exec(`UPDATE ${table} SET worker_id = 'w2'`);
        }),
      ).toEqual(['stale']);
  });

  test('finds a settlement by a worker that does not hold the job', async () => {
    expect(
      await violationsAfter(open, async (store) => {
        await store.insert([jobSpec('a')], NOW);
        const job = await claimOne(store);
        await store.claim(
          claimRequest({ workerId: 'w2', limit: 0, settlements: [ending(job, succeeded)] }),
          NOW,
        );
      }),
    ).toEqual(['stale']);
  });

  test('finds a missing event, unless retention removed it', async () => {
    expect(
      await violationsAfter(open, async (store, exec) => {
        await makeManyChanges(store);
        await exec("UPDATE event SET kind = 'edited' WHERE kind = 'failed'");
        await exec("UPDATE log SET kind = 'edited' WHERE kind = 'failed'");
      }),
    ).toEqual(['invariant']);
    expect(
      await violationsAfter(open, async (store) => {
        await makeManyChanges(store);
        await store.pruneEvents({ ageMs: null, count: 3 }, NOW);
      }),
    ).toEqual([]);
  });

  test('finds a wrong counter', async () => {
    const found = await violationsAfter(open, async (store, exec) => {
      await makeManyChanges(store);
      await exec(
        "INSERT INTO counter (queue, state, jobs) VALUES (1, 'pending', 1) ON CONFLICT (queue, state) DO UPDATE SET jobs = counter.jobs + 1",
      );
    });
    expect(new Set(found)).toEqual(new Set(['invariant']));
  });
});
