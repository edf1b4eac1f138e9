/**
 * Measures how much 50,000 jobs that cannot run slow down the claim of a job that can. Calls the store directly, in a
 * memory file system if there is one, so that no fsync hides the difference.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { ClaimedJob, JobSpec } from '../src/core/jobs/job.ts';
import { openSqlite } from '../src/store/sqlite/open.ts';
import type { Store } from '../src/store/store.ts';
import { claimRequest, ending, jobSpec, NOW } from '../test/support/jobs.ts';
import type { Lab } from './lab.ts';
import { summarize } from './numbers.ts';
import type { Row } from './report.ts';

const CLAIMS = 2000;
const IDLE_JOBS = 50_000;
const MEMORY_DIRECTORY = '/dev/shm';

/** The first store is the reference. */
const STORES: { what: string; prepare: (store: Store) => Promise<void> }[] = [
  { what: 'no other jobs', prepare: async () => {} },
  {
    what: '50,000 jobs of a paused queue',
    async prepare(store) {
      await store.insert(idleJobs({ queue: 'a', priority: 100 }), NOW);
      await store.setQueue('a', { paused: { at: NOW, by: 'bench' } });
    },
  },
  {
    what: '50,000 jobs of a queue at its limit',
    async prepare(store) {
      await store.insert(idleJobs({ queue: 'a', priority: 100 }), NOW);
      await store.setQueue('a', { concurrency: 1 });
      await store.claim(claimRequest(), NOW);
    },
  },
  {
    what: '50,000 urgent future jobs',
    prepare: async (store) =>
      void (await store.insert(idleJobs({ queue: 'b', priority: 100, runAt: 2 * NOW }), NOW)),
  },
];

export async function paused(lab: Lab): Promise<Row[]> {
  const directory = existsSync(MEMORY_DIRECTORY)
    ? mkdtempSync(join(MEMORY_DIRECTORY, 'queuectl-bench-'))
    : lab.emptyDirectory('paused');
  try {
    const stores = await Promise.all(STORES.map((_, i) => openStore(join(directory, `${i}.db`), i)));
    const times = await claimInTurn(stores);
    for (const store of stores) await store.close();
    const values = times.map((one) => summarize(one, 'ms'));
    return STORES.map(({ what }, i): Row => {
      const row: Row = { name: 'paused', what: `settle and claim, ${what}`, value: values[i]! };
      if (i === 0) return row;
      const ratio = values[i]!.median / values[0]!.median;
      return { ...row, ratio, target: { at: 'most', limit: 1.5 } };
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function openStore(path: string, which: number): Promise<Store> {
  const { store } = await openSqlite(path);
  await STORES[which]!.prepare(store);
  await store.insert(
    Array.from({ length: CLAIMS }, (_, i) => jobSpec(`b-${i}`, { queue: 'b' })),
    NOW,
  );
  return store;
}

/** Claims from each store in turn, so that other load affects all of them. */
async function claimInTurn(stores: Store[]): Promise<number[][]> {
  const times = stores.map((): number[] => []);
  const lastClaims: (ClaimedJob | undefined)[] = [];
  for (let run = 0; run < CLAIMS; run++) {
    for (const [i, store] of stores.entries()) {
      const lastClaim = lastClaims[i];
      const settlements = lastClaim === undefined ? [] : [ending(lastClaim, { why: 'exited', code: 0 })];
      const start = performance.now();
      const { jobs } = await store.claim(claimRequest({ settlements }), NOW);
      times[i]!.push(performance.now() - start);
      if (jobs[0]?.queue !== 'b') throw new Error(`${STORES[i]!.what}: claim ${run} got no job of queue b`);
      lastClaims[i] = jobs[0];
    }
  }
  return times;
}

function* idleJobs(over: Partial<JobSpec>): Generator<JobSpec> {
  for (let i = 0; i < IDLE_JOBS; i++) yield jobSpec(`a-${i}`, over);
}
