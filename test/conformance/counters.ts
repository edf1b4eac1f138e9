import { expect } from 'bun:test';
import { type ClaimedJob, STATES, type State } from '../../src/core/jobs/job.ts';
import type { Outcome } from '../../src/core/rules/decide.ts';
import type { Random } from '../../src/core/time/clock.ts';
import type { Store } from '../../src/store/store.ts';
import { claimRequest, ending, ensureRegistered, ids, jobSpec, NOW } from '../support/jobs.ts';
import { below, pick, seededRandom } from '../support/random.ts';
import type { Case } from './topic.ts';

const QUEUES = ['x', 'y', 'z'];
const OUTCOMES: Outcome[] = [
  { why: 'exited', code: 0 },
  { why: 'exited', code: 1 },
  { why: 'timeout' },
  { why: 'cancelled' },
  { why: 'stopped' },
  { why: 'never-started' },
  { why: 'lost' },
];

/** The jobs and claims so far. Each step picks from them at random, so it may be refused. */
interface History {
  store: Store;
  random: Random;
  now: number;
  added: string[];
  /** Valid claims and some that are no longer valid. */
  claims: ClaimedJob[];
}

const STEPS: Record<string, (history: History) => Promise<void>> = {
  async insert({ store, random, added, now }) {
    const specs = Array.from({ length: 1 + below(random, 4) }, (_, i) =>
      jobSpec(`job-${added.length + i}`, {
        queue: pick(random, QUEUES),
        priority: below(random, 3),
        maxRetries: below(random, 3),
        runAt: random() < 0.3 ? now + below(random, 20_000) : null,
      }),
    );
    await store.insert(specs, now);
    added.push(...ids(specs));
  },
  async refusedInsert({ store, random, added, now }) {
    if (added.length === 0) return;
    // The id of a removed job can be used again.
    const taken = pick(random, added);
    if ((await store.get(taken)) === null) return;
    await expect(store.insert([jobSpec('never', { queue: 'x' }), jobSpec(taken)], now)).rejects.toThrow();
  },
  async claim({ store, random, claims, now }) {
    const queues = random() < 0.5 ? null : [pick(random, QUEUES)];
    const settlements =
      claims.length > 0 && random() < 0.5 ? [randomEnding(pick(random, claims), random, now)] : [];
    await ensureRegistered(store, 'w1');
    claims.push(
      ...(await store.claim(claimRequest({ limit: below(random, 4), queues, settlements }), now)).jobs,
    );
  },
  async settle({ store, random, claims, now }) {
    if (claims.length > 0) await store.settle(randomEnding(pick(random, claims), random, now));
  },
  async adopt({ store, random, claims }) {
    if (claims.length === 0) return;
    const adopted = await store.adopt(pick(random, claims).claim, 'w2');
    if (adopted !== null) claims.push(adopted);
  },
  async retry({ store, random, added, now }) {
    if (added.length > 0)
      await store.retry([pick(random, added), 'nobody'], ['dead', 'cancelled', 'failed'], now);
  },
  async remove({ store, random, added }) {
    if (added.length > 0)
      await store.remove([pick(random, added), 'nobody'], ['completed', 'dead', 'cancelled'], NOW);
  },
};

function randomEnding(job: ClaimedJob, random: Random, now: number): ReturnType<typeof ending> {
  return ending(job, pick(random, OUTCOMES), now);
}

function asSortedText(counts: { queue: string; state: State; jobs: number }[]): string[] {
  return counts.map(({ queue, state, jobs }) => `${queue} ${state} ${jobs}`).sort();
}

async function countListed(store: Store): Promise<string[]> {
  const jobs = await store.list({}, { limit: 100_000 });
  const numbers = QUEUES.flatMap((queue) =>
    STATES.map((state) => ({
      queue,
      state,
      jobs: jobs.filter((job) => job.queue === queue && job.state === state).length,
    })),
  );
  return asSortedText(numbers.filter((row) => row.jobs > 0));
}

export const counters: Record<string, Case> = {
  'counters match the listed jobs after a random sequence of steps': async ({ store, another }) => {
    const random = seededRandom('counters');
    const history: History = { store, random, now: NOW, added: [], claims: [] };
    const other = await another();
    for (let i = 0; i < 400; i++) {
      history.store = random() < 0.5 ? store : other;
      history.now += below(random, 2000);
      await STEPS[pick(random, Object.keys(STEPS))]!(history);
      if (i % 20 === 0) expect(asSortedText(await store.counts())).toEqual(await countListed(store));
    }
    expect(asSortedText(await other.counts())).toEqual(await countListed(store));
    expect(await store.get('never')).toBeNull();
    expect((await store.list({}, { limit: 1000 })).length).toBeGreaterThan(20);
  },

  'no job has two holders after a random sequence of steps': async ({ store }) => {
    const random = seededRandom('holders');
    const history: History = { store, random, now: NOW, added: [], claims: [] };
    for (let i = 0; i < 200; i++) {
      history.now += below(random, 2000);
      await STEPS[pick(random, Object.keys(STEPS))]!(history);
    }
    const held = await store.runningJobs();
    expect(new Set(ids(held)).size).toBe(held.length);
    expect(ids(held).sort()).toEqual(
      ids(await store.list({ states: ['processing'] }, { limit: 1000 })).sort(),
    );
    const answers: string[] = [];
    for (const job of history.claims)
      answers.push(await store.settle(ending(job, { why: 'exited', code: 9 }, history.now)));
    expect(answers.filter((answer) => answer === 'applied')).toHaveLength(held.length);
    expect(await store.runningJobs()).toEqual([]);
  },
};
