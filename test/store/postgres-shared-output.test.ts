import { expect, test } from 'bun:test';
import { problemsOf } from '../../src/store/postgres/care/check.ts';
import type { ServerConnection } from '../../src/store/postgres/connection/connection.ts';
import type { Store } from '../../src/store/store.ts';
import { ending, NOW, startJob, succeeded } from '../support/jobs.ts';
import { withPostgres } from '../support/postgres.ts';

const KEEP = 256 * 1024;

const partsOf = async (db: ServerConnection): Promise<{ parts: number; bytes: number }> =>
  (await db.read((tx) =>
    tx.get<{ parts: number; bytes: number }>(
      'SELECT count(*) AS parts, coalesce(sum(octet_length(bytes)), 0) AS bytes FROM output_part',
    ),
  ))!;

test('the output of a job that prints a line at a time has few rows', () =>
  withPostgres(async (store, db) => {
    const { claim } = await startJob(store, 'a');
    const line = Buffer.alloc(100, 'x');
    for (let at = 0; at < 40_000; at += 100)
      await store.sharedOutput!.share([{ claim, stream: 'stdout', at, bytes: line }], KEEP);
    expect(await partsOf(db)).toEqual({ parts: 5, bytes: 40_000 });
    const { bytes, size } = await store.sharedOutput!.sharedRange(claim.attempt, 'stdout', 0, 50_000);
    expect([bytes.length, size]).toEqual([40_000, 40_000]);
  }));

test('a settlement waits for parts that are being added, and then removes them', () =>
  withPostgres(async (store, db) => {
    const job = await startJob(store, 'a');
    const added = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const slow: Promise<void> = db.write('share', async (tx) => {
      await tx.run('SELECT 1 FROM attempt FOR NO KEY UPDATE');
      await tx.run("INSERT INTO output_part VALUES ($1, 'stdout', 0, 'text')", job.claim.attempt);
      await tx.run('UPDATE attempt SET shared_bytes = 4, shared_end = 4');
      added.resolve();
      await mayCommit.promise;
    });
    await added.promise;
    const output = { bytes: 4, truncated: false, kept: Buffer.from('text') };
    const settled = store.settle(ending(job, succeeded, NOW, { output }));
    await untilWaiting(db);
    mayCommit.resolve();
    await slow;
    expect(await settled).toBe('applied');
    expect(await partsOf(db)).toEqual({ parts: 0, bytes: 0 });
    expect(await problemsOf(db)).toEqual([]);
  }));

test('a worker that waits for the lock of an attempt that is being settled adds nothing', () =>
  withPostgres(async (store, db) => {
    const { claim } = await startJob(store, 'a');
    const locked = Promise.withResolvers<void>();
    const mayCommit = Promise.withResolvers<void>();
    const slow: Promise<void> = db.write('settle', async (tx) => {
      await tx.run('UPDATE attempt SET token = token + 1');
      locked.resolve();
      await mayCommit.promise;
    });
    await locked.promise;
    const part = { claim, stream: 'stdout' as const, at: 0, bytes: Buffer.from('late') };
    const shared = store.sharedOutput!.share([part], KEEP);
    await untilWaiting(db);
    mayCommit.resolve();
    await slow;
    expect(await shared).toEqual([]);
    expect(await partsOf(db)).toEqual({ parts: 0, bytes: 0 });
  }));

/** Waits until a statement of this schema waits for a lock. */
async function untilWaiting(db: ServerConnection): Promise<void> {
  for (let tries = 0; ; tries++) {
    const row = await db.read((tx) =>
      tx.get<{ waiting: number }>(
        "SELECT count(*) AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%attempt%'",
      ),
    );
    if (row!.waiting > 0) return;
    if (tries > 500) throw new Error('no statement waits for a lock');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test('a check of the contents finds shared output that is not counted', () =>
  withPostgres(async (store: Store, db) => {
    const { claim } = await startJob(store, 'a');
    await store.sharedOutput!.share([{ claim, stream: 'stdout', at: 0, bytes: Buffer.from('text') }], KEEP);
    expect(await problemsOf(db)).toEqual([]);
    await db.write('share', (tx) => tx.run('DELETE FROM output_part'));
    expect(await problemsOf(db)).toEqual([
      `violated: the bytes of shared output are counted (${claim.attempt})`,
    ]);
  }));
