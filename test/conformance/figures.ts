import { expect } from 'bun:test';
import type { ClaimedJob, JobSpec } from '../../src/core/jobs/job.ts';
import type { Outcome } from '../../src/core/rules/decide.ts';
import { addFigures, attemptOutcome, emptyFigures, type Figures } from '../../src/core/rules/figures.ts';
import { percentilesOf, sampleCount } from '../../src/core/rules/histogram.ts';
import { MAX_NAMES, OTHER_LABEL, TIERS, type Tier } from '../../src/core/rules/tiers.ts';
import type { Random } from '../../src/core/time/clock.ts';
import type { Settlement } from '../../src/store/contract/claims.ts';
import type { Store } from '../../src/store/store.ts';
import {
  claim,
  claimRequest,
  ending,
  failedWith,
  jobSpec,
  NOW,
  startJob,
  succeeded,
} from '../support/jobs.ts';
import { below, pick, seededRandom } from '../support/random.ts';
import { addTime, DISTRIBUTIONS, deviations } from '../support/samples.ts';
import type { Case } from './topic.ts';

const DAY_MS = TIERS.day.stepMs;
const ALL_TIME = { from: 0, to: NOW + 1000 * DAY_MS };
const OUTCOMES: Outcome[] = [
  succeeded,
  succeeded,
  failedWith(1),
  { why: 'timeout' },
  { why: 'cancelled' },
  { why: 'stopped' },
  { why: 'never-started' },
  { why: 'lost' },
];

type Counts = Partial<Record<Exclude<keyof Figures, 'wait' | 'run'>, number>>;

/** Returns figures with these counts and with these times in their histograms. */
function figures(counts: Counts, waits: number[] = [], runs: number[] = []): Figures {
  const made = { ...emptyFigures(), ...counts };
  for (const ms of waits) addTime(made.wait, ms);
  for (const ms of runs) addTime(made.run, ms);
  return made;
}

async function totalFigures(store: Store): Promise<Figures> {
  const sum = emptyFigures();
  for (const { queue, name, ...one } of await store.totals()) addFigures(sum, one);
  return sum;
}

/** Changes jobs at random and computes the `expected` figures by queue and name. */
class RandomChanges {
  now = NOW;
  claims: ClaimedJob[] = [];
  added = 0;
  readonly expected = new Map<string, Figures>();
  /** The time at which a job was requeued because its command never started. Its wait begins again then. */
  private readonly store: Store;
  private readonly random: Random;

  constructor(store: Store, random: Random) {
    this.store = store;
    this.random = random;
  }

  figuresOf(queue: string, name: string | null): Figures {
    const key = `${queue}/${name ?? ''}`;
    if (!this.expected.has(key)) this.expected.set(key, emptyFigures());
    return this.expected.get(key)!;
  }

  async insert(): Promise<void> {
    const specs = Array.from({ length: 1 + below(this.random, 4) }, () =>
      jobSpec(`job-${this.added++}`, {
        queue: pick(this.random, ['x', 'y']),
        name: pick(this.random, ['mail', 'report', null]),
        maxRetries: below(this.random, 3),
        runAt: this.random() < 0.3 ? this.now + below(this.random, 20_000) - 5000 : null,
      }),
    );
    await this.store.insert(specs, this.now);
    for (const { queue, name } of specs) this.figuresOf(queue, name).enqueued++;
  }

  async claim(): Promise<void> {
    this.claims.push(...(await claim(this.store, { limit: 3 }, this.now)));
  }

  /** Settles some jobs twice or with a lost claim. Only settlements that are applied count. */
  async settle(): Promise<void> {
    if (this.claims.length === 0) return;
    const job = pick(this.random, this.claims);
    const settlement = ending(job, pick(this.random, OUTCOMES), this.now);
    const cancelRequested = await this.isCancelRequested(job);
    const [answer] = (await this.store.claim(claimRequest({ limit: 0, settlements: [settlement] }), this.now))
      .settled;
    if (answer === 'applied') this.count(job, settlement, cancelRequested);
  }

  async cancel(): Promise<void> {
    const jobs = await this.store.list({ states: ['pending', 'failed', 'processing'] }, { limit: 1000 });
    if (jobs.length === 0) return;
    const job = pick(this.random, jobs);
    const { cancelled } = await this.store.cancel([job.id, 'nobody'], this.now);
    if (cancelled.length > 0) this.figuresOf(job.queue, job.name).dropped++;
  }

  private async isCancelRequested({ claim }: ClaimedJob): Promise<boolean> {
    const running = await this.store.runningJobs();
    return running.some((one) => one.claim.attempt === claim.attempt && one.endReason === 'cancelled');
  }

  private count(
    job: ClaimedJob,
    { transition, why, finishedAt }: Settlement,
    cancelRequested: boolean,
  ): void {
    const sum = this.figuresOf(job.queue, job.name);
    if (why === 'never-started') {
      if (cancelRequested) sum.dropped++;
      return;
    }
    const runsAgain = transition.to === 'failed' || transition.to === 'released';
    sum[cancelRequested && runsAgain ? 'cancelled' : attemptOutcome(transition.to, why)]++;
    const startedAt = job.startedAt!;
    if (job.ordinal === 1) {
      const due = Math.max(job.runAt ?? 0, job.createdAt);
      addFigures(sum, figures({}, [startedAt - due]));
    }
    const ended = transition.to === 'completed' || transition.to === 'dead' || transition.to === 'failed';
    if (ended && why !== 'lost' && !(cancelRequested && runsAgain))
      addFigures(sum, figures({}, [], [finishedAt - startedAt]));
  }
}

export const figuresOverTime: Record<string, Case> = {
  'figures match random changes, in every tier and on every connection': async ({ store, another }) => {
    const random = seededRandom('figures');
    const changes = new RandomChanges(store, random);
    const other = await another();
    const steps = [
      changes.insert,
      changes.claim,
      changes.claim,
      changes.settle,
      changes.settle,
      changes.cancel,
    ];
    for (let i = 0; i < 500; i++) {
      changes.now += below(random, 20 * 60_000);
      await pick(random, steps).call(changes);
    }
    const seen = new Map((await other.totals()).map(({ queue, name, ...one }) => [`${queue}/${name}`, one]));
    expect(new Map([...seen].sort())).toEqual(new Map([...changes.expected].sort()));
    const all = await totalFigures(store);
    for (const tier of Object.keys(TIERS) as Tier[]) {
      const rows = await other.series({ tier, ...ALL_TIME });
      const sum = emptyFigures();
      for (const { at, ...row } of rows) {
        expect(at % TIERS[tier].stepMs).toBe(0);
        addFigures(sum, row);
      }
      expect(sum).toEqual(all);
      expect(rows.map((row) => row.at)).toEqual(rows.map((row) => row.at).toSorted((a, b) => a - b));
      const parts = emptyFigures();
      for (const { queue, name, ...row } of await store.breakdown({ tier, ...ALL_TIME }))
        addFigures(parts, row);
      expect(parts).toEqual(all);
      const [mailRow] = await store.breakdown({ tier, ...ALL_TIME, queue: 'x', name: 'mail' });
      const mailSum = emptyFigures();
      for (const { at, ...row } of await store.series({ tier, ...ALL_TIME, queue: 'x', name: 'mail' }))
        addFigures(mailSum, row);
      expect(mailRow).toMatchObject({ queue: 'x', name: 'mail', ...mailSum });
      expect(mailSum).toEqual(changes.expected.get('x/mail') ?? emptyFigures());
    }
  },

  'figures match the stored attempts': async ({ store }) => {
    const random = seededRandom('attempts');
    const changes = new RandomChanges(store, random);
    for (let i = 0; i < 200; i++) {
      changes.now += below(random, 5000);
      await pick(random, [changes.insert, changes.claim, changes.settle]).call(changes);
    }
    const jobs = await store.list({}, { limit: 100_000 });
    const ended = (await Promise.all(jobs.map((job) => store.attempts(job.id))))
      .flat()
      .filter((attempt) => attempt.finishedAt !== null);
    const counted = ended.filter(({ why }) => why !== 'lost' && why !== 'stopped' && why !== 'cancelled');
    const sum = await totalFigures(store);
    const { completed, failed, dead, cancelled, released, lost } = sum;
    expect(completed + failed + dead + cancelled + released + lost).toBe(ended.length);
    expect(completed).toBe(ended.filter((one) => one.exitCode === 0).length);
    expect(sampleCount(sum.run)).toBe(counted.length);
    expect(sum.run.sumMs).toBe(counted.reduce((ms, one) => ms + one.finishedAt! - one.startedAt, 0));
    expect(sampleCount(sum.wait)).toBe(ended.filter((one) => one.ordinal === 1).length);
    expect(ended.length).toBeGreaterThan(10);
  },

  'the wait of a first attempt is in the histogram, and that of a retry is not': async ({ store }) => {
    const first = await startJob(store, 'a', { name: 'mail' });
    await store.settle(ending(first, failedWith(1), NOW + 30));
    const [second] = await claim(store, {}, NOW + 50_000);
    await store.settle(ending(second!, succeeded, NOW + 50_700));
    expect(await store.totals()).toEqual([
      {
        queue: 'default',
        name: 'mail',
        ...figures({ enqueued: 1, failed: 1, completed: 1 }, [0], [30, 700]),
      },
    ]);
  },

  'a range excludes its end and omits empty intervals': async ({ store }) => {
    await store.insert([jobSpec('a'), jobSpec('b')], NOW);
    await store.insert([jobSpec('c')], NOW + 3 * 60_000);
    const minutes = async (from: number, to: number) =>
      (await store.series({ tier: 'minute', from, to })).map(({ at, enqueued }) => [at - NOW, enqueued]);
    expect(await minutes(NOW, NOW + 4 * 60_000)).toEqual([
      [0, 2],
      [3 * 60_000, 1],
    ]);
    expect(await minutes(NOW, NOW + 3 * 60_000)).toEqual([[0, 2]]);
    expect(await store.series({ tier: 'hour', ...ALL_TIME, queue: 'nobody' })).toEqual([]);
  },

  'figures stay when jobs are removed, and a refused insert does not count': async ({ store }) => {
    await store.insert([jobSpec('a')], NOW);
    await expect(store.insert([jobSpec('b'), jobSpec('a')], NOW)).rejects.toThrow();
    await store.cancel(['a'], NOW);
    await store.remove(['a'], ['cancelled'], NOW);
    expect(await totalFigures(store)).toEqual(figures({ enqueued: 1, dropped: 1 }));
  },

  'an existing unique job counts once': async ({ store }) => {
    const unique = { key: 'k', while: 'active', forMs: null } as const;
    await store.insert([jobSpec('a', { unique }), jobSpec('b', { unique })], NOW);
    expect(await totalFigures(store)).toEqual(figures({ enqueued: 1 }));
  },

  'a job that is cancelled with its parent counts as dropped': async ({ store }) => {
    await store.insert([jobSpec('a'), jobSpec('child', { dependsOn: [{ id: 'a', on: 'ok' }] })], NOW);
    await store.cancel(['a'], NOW);
    expect(await totalFigures(store)).toEqual(figures({ enqueued: 2, dropped: 2 }));
  },

  'names beyond the maximum share one row in each queue': async ({ store }) => {
    const specs = Array.from({ length: MAX_NAMES + 5 }, (_, i) => jobSpec(`j${i}`, { name: `n${i}` }));
    await store.insert(specs, NOW);
    await store.insert([jobSpec('again', { name: 'n0', queue: 'second' }), jobSpec('none')], NOW);
    await store.insert([jobSpec('late', { name: 'late', queue: 'second' })], NOW);
    const rows = await store.totals();
    const enqueuedOf = (queue: string, name: string) =>
      rows.find((row) => row.queue === queue && row.name === name)?.enqueued;
    expect(new Set(rows.map((row) => row.name)).size).toBe(MAX_NAMES + 2);
    expect([
      enqueuedOf('default', OTHER_LABEL),
      enqueuedOf('second', OTHER_LABEL),
      enqueuedOf('second', 'n0'),
      enqueuedOf('default', ''),
    ]).toEqual([5, 1, 1, 1]);
    for (const job of await claim(store, { limit: 1000 })) await store.settle(ending(job, succeeded));
    const others = (await store.totals()).filter((row) => row.name === OTHER_LABEL);
    expect(others.map((row) => row.completed).sort()).toEqual([1, 5]);
  },

  'figures older than the limit of their tier are removed, and totals stay': async ({ store }) => {
    for (const day of [0, 8, 100]) await store.insert([jobSpec(`d${day}`)], NOW + day * DAY_MS);
    const remaining = async () =>
      Promise.all(
        (Object.keys(TIERS) as Tier[]).map(
          async (tier) => (await store.series({ tier, ...ALL_TIME })).length,
        ),
      );
    expect(await store.forgetRollups(NOW)).toBe(0);
    expect(await remaining()).toEqual([3, 3, 3]);
    while ((await store.forgetRollups(NOW + 100 * DAY_MS)) > 0);
    expect(await remaining()).toEqual([1, 1, 3]);
    while ((await store.forgetRollups(NOW + 735 * DAY_MS)) > 0);
    expect(await remaining()).toEqual([0, 0, 2]);
    expect((await totalFigures(store)).enqueued).toBe(3);
  },

  'oldestWaiting considers jobs that are ready or due, but not held or delayed jobs': async ({ store }) => {
    await store.insert(
      [
        jobSpec('past', { queue: 'a', runAt: NOW - 1e9 }),
        jobSpec('due', { queue: 'b', runAt: NOW + 50 }),
        jobSpec('later', { queue: 'c', runAt: NOW + 1e6 }),
        jobSpec('held', { queue: 'd' }),
        jobSpec('low', { queue: 'e', priority: -5 }),
      ],
      NOW,
    );
    await store.hold(['held'], NOW);
    await store.insert([jobSpec('young', { queue: 'e', priority: 5 })], NOW + 90);
    expect(await store.oldestWaiting(NOW + 100)).toEqual([
      { queue: 'a', since: NOW },
      { queue: 'b', since: NOW + 50 },
      { queue: 'c', since: null },
      { queue: 'd', since: null },
      { queue: 'e', since: NOW },
    ]);
    // These jobs are claimed before younger ones, but their wait starts only when they are due.
    const line = ['one', 'two', 'three'].map((id) => jobSpec(id, { queue: 'f', runAt: NOW + 80 }));
    await store.insert(line, NOW);
    await store.insert([jobSpec('fresh', { queue: 'f' })], NOW + 60);
    await claim(store, { limit: 1, queues: ['f'] }, NOW + 85);
    expect((await store.oldestWaiting(NOW + 100)).at(-1)).toEqual({ queue: 'f', since: NOW + 60 });
    await store.cancel(['fresh'], NOW + 90);
    expect((await store.oldestWaiting(NOW + 100)).at(-1)).toEqual({ queue: 'f', since: NOW + 80 });
    await claim(store, { limit: 5, queues: ['e', 'f'] }, NOW + 100);
    expect((await store.oldestWaiting(NOW + 100)).slice(-2)).toEqual([
      { queue: 'e', since: null },
      { queue: 'f', since: null },
    ]);
  },

  'the time on hold, and the time until a job is scheduled for now, do not count as waiting': async ({
    store,
  }) => {
    const dependsOn = [{ id: 'a-parent', on: 'ok' as const }];
    const changes: Record<string, (id: string) => Promise<unknown>> = {
      held: (id) => store.release([id], NOW + 6000),
      'held-later': async (id) => {
        await store.hold([id], NOW + 10);
        await store.release([id], NOW + 6000);
      },
      rescheduled: (id) => store.edit([id], { runAt: NOW + 500 }, NOW + 6000),
      child: async (id) => {
        await store.release([id], NOW + 10);
        const [parent] = await claim(store, { queues: ['parent'] }, NOW + 20);
        await store.settle(ending(parent!, succeeded, NOW + 6000));
      },
      retried: async (id) => {
        await store.cancel([id], NOW + 10);
        await store.retry([id], ['cancelled'], NOW + 6000);
      },
    };
    const specOf: Record<string, Partial<JobSpec>> = {
      held: { hold: true },
      rescheduled: { runAt: NOW + 1e6 },
      child: { hold: true, dependsOn },
    };
    await store.insert([jobSpec('a-parent', { queue: 'parent' })], NOW);
    for (const [id, change] of Object.entries(changes)) {
      await store.insert([jobSpec(id, { queue: id, ...specOf[id] })], NOW);
      await change(id);
      const { since } = (await store.oldestWaiting(NOW + 7000)).find((one) => one.queue === id)!;
      expect({ id, since }).toEqual({ id, since: NOW + 6000 });
      const [job] = await claim(store, { queues: [id] }, NOW + 7000);
      await store.settle(ending(job!, succeeded, NOW + 7001));
      const { waitMs } = (await store.finishedAttempts(1))[0]!;
      expect({ id, waitMs }).toEqual({ id, waitMs: 1000 });
      const { wait } = (await store.totals()).find((one) => one.queue === id)!;
      expect({ id, waitMs: wait.sumMs }).toEqual({ id, waitMs: 1000 });
    }
  },

  'a job released before it is due waits from its due time': async ({ store }) => {
    await store.insert([jobSpec('a', { hold: true, runAt: NOW + 5000 })], NOW);
    await store.release(['a'], NOW + 1000);
    expect(await store.oldestWaiting(NOW + 4000)).toEqual([{ queue: 'default', since: null }]);
    expect(await store.oldestWaiting(NOW + 6000)).toEqual([{ queue: 'default', since: NOW + 5000 }]);
  },

  'percentiles of stored times are within 5% of the real ones, in every tier': async ({ store }) => {
    for (const [shape, make] of Object.entries(DISTRIBUTIONS)) {
      const random = seededRandom(shape);
      const times = make(random, 300);
      const specs = times.map((_, i) => jobSpec(`${shape}-${i}`, { queue: shape, name: shape }));
      await store.insert(specs, NOW);
      const waits = times.map((_, i) => times[(i * 7) % times.length]!);
      for (let i = 0; i < times.length; i++) {
        const [job] = await claim(store, { queues: [shape] }, NOW + waits[i]!);
        await store.settle(ending(job!, succeeded, NOW + waits[i]! + times[i]!, { durationMs: times[i]! }));
      }
      const request = { ...ALL_TIME, queue: shape };
      for (const tier of Object.keys(TIERS) as Tier[]) {
        const [found] = await store.breakdown({ tier, ...request });
        expect([tier, deviations(percentilesOf(found!.run), times)]).toEqual([tier, []]);
        expect([tier, deviations(percentilesOf(found!.wait), waits)]).toEqual([tier, []]);
      }
      const total = (await store.totals()).find((one) => one.queue === shape)!;
      expect(deviations(percentilesOf(total.run), times)).toEqual([]);
      expect([total.run.least, total.run.most]).toEqual([Math.min(...times), Math.max(...times)]);
    }
  },

  'sampleWaiting stores the wait of the oldest job in its minute, hour and day, by queue and without a name':
    async ({ store }) => {
      await store.sampleWaiting(NOW);
      await store.insert([jobSpec('a', { queue: 'x', name: 'mail' }), jobSpec('b', { queue: 'y' })], NOW);
      await store.hold(['b'], NOW);
      await store.sampleWaiting(NOW + 5000);
      await store.sampleWaiting(NOW + 4000);
      await store.sampleWaiting(NOW + 65_000);
      const oldest = async (tier: Tier, queue?: string) =>
        (await store.series({ tier, ...ALL_TIME, ...(queue === undefined ? {} : { queue }) })).map(
          ({ at, oldestMs }) => [at - NOW, oldestMs],
        );
      expect(await oldest('minute', 'x')).toEqual([
        [0, 5000],
        [60_000, 65_000],
      ]);
      expect(await oldest('hour')).toEqual([[0, 65_000]]);
      expect(await oldest('day', 'x')).toEqual([[0, 65_000]]);
      expect(await oldest('day', 'y')).toEqual([[0, 0]]);
      const totals = await store.totals();
      expect(totals.map(({ queue, name, oldestMs }) => [queue, name, oldestMs])).toEqual([
        ['x', 'mail', 0],
        ['y', '', 0],
      ]);
    },

  'walBytes returns a positive size, or null if there is no write-ahead log': async ({ store }) => {
    await store.insert([jobSpec('a')], NOW);
    const bytes = await store.walBytes();
    if (bytes !== null) expect(bytes).toBeGreaterThan(0);
  },
};
