import { describe, expect, test } from 'bun:test';
import type { ClaimedJob } from '../../src/core/jobs/job.ts';
import { statusSql } from '../../src/store/postgres/connection/commit-result.ts';
import { connect, type ServerConnection } from '../../src/store/postgres/connection/connection.ts';
import { readLocation } from '../../src/store/postgres/connection/location.ts';
import type { Transaction } from '../../src/store/postgres/connection/transaction.ts';
import { openPostgres } from '../../src/store/postgres/open.ts';
import { postgresStore } from '../../src/store/postgres/store.ts';
import type { Store } from '../../src/store/store.ts';
import { startCuttingProxy } from '../support/cutting-proxy.ts';
import {
  claim,
  claimRequest,
  ending,
  HOST,
  ids,
  jobSpec,
  NOW,
  newWorker,
  succeeded,
} from '../support/jobs.ts';
import { onServer, openTempPostgres } from '../support/postgres.ts';
import { startPostgres } from '../support/postgres-server.ts';
import { until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

type Proxy = Awaited<ReturnType<typeof startCuttingProxy>>;

interface LossyStore {
  /** A store whose connections go through the proxy. */
  lossy: Store;
  db: ServerConnection;
  proxy: Proxy;
}

/** Runs `work` with a store behind a proxy. Its calls fail if the outcome of a commit is unknown for `waitMs`. */
async function behindProxy(
  url: string,
  waitMs: number,
  work: (lossy: LossyStore) => Promise<void>,
): Promise<void> {
  const proxy = await startCuttingProxy(url);
  const db = connect(readLocation(proxy.url, {}), { actor: null, now: Date.now, waitMs });
  db.identifyHost(() => HOST);
  try {
    await work({ lossy: postgresStore(db, async () => {}), db, proxy });
  } finally {
    await db.close();
    proxy.close();
  }
}

async function withLossyStore(
  waitMs: number,
  work: (store: Store, lossy: LossyStore) => Promise<void>,
): Promise<void> {
  const { store, url, cleanup } = await openTempPostgres();
  try {
    await store.register(newWorker('w1'));
    await behindProxy(url, waitMs, (lossy) => work(store, lossy));
  } finally {
    await store.close();
    await cleanup();
  }
}

/** Makes the server answer that a transaction was rolled back, whatever became of it. */
function forgetCommits(proxy: Proxy): void {
  const question = 'pg_xact_status($1::text::xid8)';
  if (!statusSql.includes(question)) throw new Error(`no question in: ${statusSql}`);
  proxy.rewrite(question, "concat('aborted', left($1, 0))");
}

/** Claims and settles all jobs, while every second COMMIT or its answer is lost. Returns how often each job was claimed. */
async function runAll({ lossy, proxy }: LossyStore): Promise<Map<string, number>> {
  const claimed = new Map<string, number>();
  let running: ClaimedJob[] = [];
  for (let round = 0; round === 0 || running.length > 0; round++) {
    if (round % 2 === 0) proxy.cutNext(round % 4 === 0 ? 'drop-answer' : 'drop-commit');
    const settlements = running.map((job) => ending(job, succeeded));
    const result = await lossy.claim(claimRequest({ limit: 2, settlements }), NOW);
    for (const answer of result.settled) expect(answer).not.toBe('lost');
    running = result.jobs;
    for (const { id } of running) claimed.set(id, (claimed.get(id) ?? 0) + 1);
  }
  return claimed;
}

describe('the answers to some claims are lost', () => {
  const JOBS = Array.from({ length: 12 }, (_, i) => `job-${i}`);
  const insert = (store: Store) =>
    store.insert(
      JOBS.map((id) => jobSpec(id)),
      NOW,
    );

  test('every job is claimed once and settled', () =>
    withLossyStore(30_000, async (store, lossy) => {
      await insert(store);
      const claimed = await runAll(lossy);
      expect(lossy.proxy.cuts()).toBeGreaterThan(2);
      expect([...claimed.keys()].toSorted()).toEqual(JOBS.toSorted());
      expect(new Set(claimed.values())).toEqual(new Set([1]));
      expect(await store.counts()).toEqual([{ queue: 'default', state: 'completed', jobs: JOBS.length }]);
    }));

  test('control: if a claim is repeated without asking what became of it, its jobs are stuck', () =>
    withLossyStore(30_000, async (store, lossy) => {
      await insert(store);
      forgetCommits(lossy.proxy);
      const claimed = await runAll(lossy);
      const stuck = ids(await store.runningJobs());
      expect(stuck.length).toBeGreaterThan(0);
      for (const id of stuck) expect(claimed.has(id)).toBe(false);
      expect(claimed.size).toBe(JOBS.length - stuck.length);
    }));
});

/** Returns a store whose transactions wait for their COMMIT for as long as the test wants. `onBegin` gets the pid of the server's process. */
const withoutIdleTimeout = (db: ServerConnection, onBegin: (pid: number) => void = () => {}): Store =>
  postgresStore(
    {
      ...db,
      write: (verb, work, isRepeatable) =>
        db.write(
          verb,
          async (tx) => {
            await tx.run('SET LOCAL idle_in_transaction_session_timeout = 0');
            onBegin((await tx.get<{ pid: number }>('SELECT pg_backend_pid() AS pid'))!.pid);
            return work(tx);
          },
          isRepeatable,
        ),
    },
    async () => {},
  );

test('mine gives no answer before a COMMIT that is still on its way has arrived', () =>
  withLossyStore(300, async (store, { db, proxy }) => {
    await store.insert([jobSpec('a')], NOW);
    const lossy = withoutIdleTimeout(db);
    proxy.cutNext('delay-commit');
    await expect(lossy.claim(claimRequest(), NOW)).rejects.toThrow('it is unknown whether');
    // A store that only looked at the jobs would now answer that the worker holds none.
    expect(await lossy.runningJobs()).toEqual([]);
    await expect(lossy.mine('w1')).rejects.toThrow('it is unknown whether');
    proxy.sendDelayed();
    const found: { jobs: ClaimedJob[] | null } = { jobs: null };
    await until(async () => {
      found.jobs = await lossy.mine('w1').catch(() => null);
      return found.jobs !== null;
    }, 'mine answers');
    expect(found.jobs).toMatchObject([{ id: 'a', workerId: 'w1' }]);
    expect(await lossy.settle(ending(found.jobs![0]!, succeeded))).toBe('applied');
  }));

test('a COMMIT that never arrives is certain as soon as the server has ended its transaction', () =>
  withLossyStore(300, async (store, { lossy, proxy, db }) => {
    await store.insert([jobSpec('a')], NOW);
    let pid = 0;
    const patient = withoutIdleTimeout(db, (begun) => {
      pid = begun;
    });
    proxy.cutNext('delay-commit');
    await expect(patient.claim(claimRequest(), NOW)).rejects.toThrow('it is unknown whether');
    await db.write('claim', (tx) => tx.run('SELECT pg_terminate_backend($1)', pid));
    const isCertain = () =>
      db.untilCertain().then(
        () => true,
        () => false,
      );
    await until(isCertain, 'the transaction has ended');
    expect(await lossy.mine('w1')).toEqual([]);
    expect(ids(await claim(lossy))).toEqual(['a']);
  }));

test('the server ends a transaction that waits for its COMMIT for 5 seconds', () =>
  withLossyStore(30_000, async (_, { db }) => {
    const timeout = (tx: Transaction) => tx.get('SHOW idle_in_transaction_session_timeout');
    const expected = { idle_in_transaction_session_timeout: '5s' };
    expect(await db.write('claim', timeout)).toEqual(expected);
    expect(await db.read(timeout)).toEqual(expected);
  }));

test('after a crash, the transaction id of another transaction does not prove a commit', async () => {
  const server = await startPostgres();
  const onOwnServer = <T>(statement: string) =>
    onServer(server.url, async (client) => (await client.query(statement)).rows[0] as T);
  try {
    const { writer } = await onOwnServer<{ writer: number }>(
      "SELECT pid AS writer FROM pg_stat_activity WHERE backend_type = 'walwriter'",
    );
    await inTempDir(async (home) => {
      const { store } = await openPostgres(server.url, {}, { QUEUECTL_HOME: home });
      await store.register(newWorker('w1'));
      await store.insert([jobSpec('a')], NOW);
      await store.close();
      // Nothing but a commit writes to the disk now, so a crash loses the transaction without a trace.
      process.kill(writer, 'SIGSTOP');
      await behindProxy(server.url, 30_000, async ({ lossy, db, proxy }) => {
        let lost = 0;
        const failing = db.write('claim', async (tx) => {
          const row = await tx.get<{ id: number }>('SELECT pg_current_xact_id()::text::bigint AS id');
          await tx.run("UPDATE job SET phase = 'held'");
          proxy.refuse(true);
          proxy.cutNext('delay-commit');
          lost = row!.id;
        });
        await until(() => proxy.cuts() === 1, 'the COMMIT is on its way');
        // When one of its processes is killed, the server ends all others and recovers.
        process.kill(writer, 'SIGKILL');
        const lastId = async (): Promise<number> =>
          (await onOwnServer<{ id: number }>('SELECT pg_current_xact_id()::text::bigint AS id')).id;
        await until(
          () =>
            lastId()
              .then((id) => id >= lost)
              .catch(() => false),
          'the id is used again',
        );
        const { status } = await onOwnServer<{ status: string }>(
          `SELECT pg_xact_status('${lost}') AS status`,
        );
        expect(status).toBe('committed');
        proxy.refuse(false);
        await expect(failing).rejects.toThrow('it is unknown whether');
        expect(await lossy.mine('w1')).toEqual([]);
        expect(await lossy.get('a')).toMatchObject({ held: false });
      });
    });
  } finally {
    await server.stop();
  }
});
