import { expect } from 'bun:test';
import type { StoreEvent } from '../../src/core/rules/events.ts';
import type { Store } from '../../src/store/store.ts';
import {
  claimOne,
  ending,
  ensureRegistered,
  failedWith,
  jobSpec,
  NOW,
  newWorker,
  startJob,
  succeeded,
} from '../support/jobs.ts';
import type { Case } from './topic.ts';

const DAY_MS = 86_400_000;
const allEvents = (store: Store, after = 0): Promise<StoreEvent[]> => store.events(after, 100_000);

/** Returns the kind and the job of each event. */
const kindsAndJobs = (events: StoreEvent[]): string[] =>
  events.map((one) => `${one.kind} ${one.jobId ?? '-'}`);

/** Runs a change and returns its events. */
async function eventsOf(store: Store, change: () => Promise<unknown>): Promise<StoreEvent[]> {
  const lastNumber = await store.lastEventNumber();
  await change();
  return allEvents(store, lastNumber);
}

const specs = (count: number, over = {}) => Array.from({ length: count }, (_, i) => jobSpec(`j${i}`, over));

export const events: Record<string, Case> = {
  'a new store has no events': async ({ store }) => {
    expect([await allEvents(store), await store.lastEventNumber()]).toEqual([[], 0]);
  },

  'the events of a job are in order and numbered without a gap': async ({ store }) => {
    for (const id of ['w1', 'w2']) await ensureRegistered(store, id);
    const seen = await eventsOf(store, async () => {
      await store.settle(ending(await startJob(store, 'a', { maxRetries: 2, queue: 'q' }), failedWith(3)));
      const again = await claimOne(store, 'w2', NOW + 9000);
      await store.settle(ending(again, failedWith(4), NOW + 9000));
    });
    expect(seen.map((one) => one.number)).toEqual([3, 4, 5, 6, 7]);
    expect(kindsAndJobs(seen)).toEqual(['enqueued a', 'started a', 'failed a', 'started a', 'dead a']);
    expect(seen.map((one) => one.attempt)).toEqual([null, 1, 1, 2, 2]);
    expect(seen.map((one) => one.actor)).toEqual([null, 'w1', 'w1', 'w2', 'w2']);
    expect(seen.every((one) => one.queue === 'q')).toBe(true);
    expect(seen[2]!.detail).toMatchObject({ outcome: 'exited', exit_code: 3, error: 'exit code 3' });
    expect(seen[4]!.detail).toMatchObject({ exit_code: 4 });
    expect(await store.lastEventNumber()).toBe(7);
  },

  'eventsOfJob returns the events of one job, newest first': async ({ store }) => {
    await store.insert([jobSpec('alone')], NOW);
    await store.insert([...specs(3), jobSpec('elsewhere', { queue: 'q' }), jobSpec('last')], NOW);
    await store.hold(['j1', 'alone', 'elsewhere'], NOW);
    await store.release(['j1'], NOW);
    await store.cancel(['j1', 'j2'], NOW);
    await store.remove(['j2'], ['cancelled'], NOW);
    const last = await store.lastEventNumber();
    const every = await allEvents(store);
    for (const id of ['alone', 'j0', 'j1', 'elsewhere', 'last', 'nobody']) {
      const ofJob = every.filter((event) => event.jobId === id).reverse();
      expect(await store.eventsOfJob(id, 0, last, 100)).toEqual(ofJob);
      expect(await store.eventsOfJob(id, 0, last, 1)).toEqual(ofJob.slice(0, 1));
      // Reading in pages skips nothing and repeats nothing.
      const parts: StoreEvent[] = [];
      for (let to = last; to > 0; to -= 2)
        parts.push(...(await store.eventsOfJob(id, Math.max(0, to - 2), to, 100)));
      expect(parts).toEqual(ofJob);
    }
    expect(kindsAndJobs(await store.eventsOfJob('j2', 0, last, 100))).toEqual(['deleted j2', 'cancelled j2']);
  },

  'each job of a batch makes an event, and reading can resume inside the batch': async ({ store }) => {
    await store.insert([jobSpec('first')], NOW);
    await store.insert(specs(1234, { queue: 'bulk' }), NOW);
    await store.insert([jobSpec('last')], NOW);
    const names = ['first', ...specs(1234).map((job) => job.id), 'last'].map((id) => `enqueued ${id}`);
    expect(kindsAndJobs(await allEvents(store))).toEqual(names);
    const pages: StoreEvent[] = [];
    for (let after = 0; pages.length <= names.length; after = pages.at(-1)!.number) {
      const page = await store.events(after, 100);
      if (page.length === 0) break;
      expect(page.length).toBeLessThanOrEqual(100);
      pages.push(...page);
    }
    expect(pages).toEqual(await allEvents(store));
    expect(pages.map((one) => one.number)).toEqual(names.map((_, i) => i + 1));
    expect(new Set(pages.slice(1, -1).map((one) => one.queue))).toEqual(new Set(['bulk']));
  },

  'a job that is not added because of its unique key makes no event': async ({ store }) => {
    const unique = (key: string) => ({ unique: { key, while: 'active' as const, forMs: null } });
    await store.insert([jobSpec('u', unique('k'))], NOW);
    const given = [
      ...[
        jobSpec('a'),
        jobSpec('taken', unique('k')),
        jobSpec('b', { queue: 'q' }),
        jobSpec('c', unique('n')),
      ],
      ...[jobSpec('twice', unique('n')), jobSpec('d')],
    ];
    const seen = await eventsOf(store, () => store.insert(given, NOW));
    expect(seen.map((one) => [one.jobId, one.queue])).toEqual([
      ...[
        ['a', 'default'],
        ['b', 'q'],
      ],
      ...[
        ['c', 'default'],
        ['d', 'default'],
      ],
    ]);
  },

  'a change that is refused, rolled back or without effect makes no event': async ({ store }) => {
    await store.insert([jobSpec('a')], NOW);
    await store.insert([...specs(60), jobSpec('a')], NOW).catch(() => {});
    expect(await store.hold(['none'], NOW)).toEqual([]);
    expect(await store.retry(['a'], ['dead'], NOW)).toEqual([]);
    expect(await store.unregister('nobody')).toBe(false);
    await store.setQueue('default', { paused: null });
    await store.set('x', null, () => {});
    const refuse = (): void => {
      throw new Error('no');
    };
    await store.set('x', '1', refuse).catch(() => {});
    expect(kindsAndJobs(await allEvents(store))).toEqual(['enqueued a']);
    await store.insert([jobSpec('b')], NOW);
    expect(kindsAndJobs(await allEvents(store))).toEqual(['enqueued a', 'enqueued b']);
    expect(await store.lastEventNumber()).toBe(2);
  },

  'the events of a removed job keep its id, except the enqueued event of a batch': async ({ store }) => {
    await store.insert([jobSpec('alone')], NOW);
    await store.insert(specs(3), NOW);
    await store.remove(['alone', 'j1'], ['pending'], NOW);
    const gone = ['deleted alone', 'deleted j1'];
    expect(kindsAndJobs(await allEvents(store))).toEqual([
      'enqueued alone',
      'enqueued j0',
      'enqueued -',
      'enqueued j2',
      ...gone,
    ]);
  },

  'each action makes an event with its actor': async ({ store: first, another }) => {
    await first.insert(specs(2), NOW);
    await startJob(first, 'runs', { priority: 9 });
    const store = await another('me@here');
    const seen = await eventsOf(store, async () => {
      await store.hold(['j0'], NOW);
      await store.release(['j0'], NOW);
      await store.edit(['j0'], { priority: 5, name: 'x' }, NOW);
      await store.cancel(['j0', 'runs'], NOW);
      await store.cancel(['runs'], NOW);
      await store.retry(['j0'], ['cancelled'], NOW);
      await store.remove(['j1'], ['pending'], NOW);
      await store.setQueue('q', { paused: { at: NOW, by: 'me' } });
      await store.setQueue('q', { paused: null, concurrency: 2, rate: { jobs: 10, perMs: 1000 } });
      await store.setQueue('q', { concurrency: null });
      await store.set('lease', '1m', () => {});
      await store.set('lease', null, () => {});
    });
    const jobs = [
      'held j0',
      'released j0',
      'edited j0',
      'cancelled j0',
      'ending runs',
      'retried j0',
      'deleted j1',
    ];
    const queue = ['queue-paused -', 'queue-resumed -', 'queue-set -', 'queue-set -'];
    const others = [...queue, 'setting-set -', 'setting-unset -'];
    expect(kindsAndJobs(seen)).toEqual([...jobs, ...others]);
    expect(new Set(seen.map((one) => one.actor))).toEqual(new Set(['me@here']));
    expect(seen[2]!.detail).toEqual({ fields: ['priority', 'name'] });
    expect(seen[9]).toMatchObject({ queue: 'q', detail: { concurrency: 2, rate: '10/s' } });
    expect(seen[10]!.detail).toEqual({ concurrency: null });
    expect(seen[11]!.detail).toEqual({ key: 'lease', value: '1m' });
  },

  'each adoption, request to end, requeue and start makes one event': async ({ store }) => {
    const job = await startJob(store, 'a');
    for (const id of ['w2', 'w3']) await ensureRegistered(store, id);
    const seen = await eventsOf(store, async () => {
      const adopted = (await store.adopt(job.claim, 'w2'))!;
      expect(await store.adopt(job.claim, 'w3')).toBeNull();
      await store.setEndReason(adopted.claim, 'stopped');
      await store.setEndReason(adopted.claim, 'timeout');
      expect(await store.settle(ending(job, succeeded))).toBe('lost');
      const end = ending(adopted, { why: 'stopped' });
      expect([await store.settle(end), await store.settle(end)]).toEqual(['applied', 'already-mine']);
      const next = await claimOne(store, 'w3', NOW + 1000);
      await store.settle(ending(next, { why: 'never-started' }));
    });
    expect(kindsAndJobs(seen)).toEqual(['adopted a', 'ending a', 'requeued a', 'started a', 'requeued a']);
    expect(seen.map((one) => one.actor)).toEqual(['w2', 'w2', 'w2', 'w3', 'w3']);
    expect(seen[1]!.detail).toEqual({ reason: 'stopped' });
  },

  'a cancelled job whose command never started makes one event at its end': async ({ store }) => {
    const job = await startJob(store, 'a');
    await store.cancel(['a'], NOW);
    const seen = await eventsOf(store, () => store.settle(ending(job, { why: 'never-started' })));
    expect(kindsAndJobs(seen)).toEqual(['cancelled a']);
  },

  'schedules and workers make events': async ({ store }) => {
    const timing = { kind: 'every' as const, everyMs: 1000, anchorAt: NOW };
    const spec = { name: 's', timing, overlap: 'skip' as const, catchUp: 'one' as const, job: {} };
    const seen = await eventsOf(store, async () => {
      await store.addSchedule(spec, NOW, NOW);
      const [schedule] = await store.schedules();
      const ticks = [0, 1].map((i) => ({ at: NOW + i, mayWait: false, jobId: 't' }));
      const rest = { nextAt: NOW + 9, waitingJobIds: [], job: jobSpec('s') };
      await store.fire([{ schedule: schedule!, ticks, ...rest }], NOW);
      await store.fireNow('s', jobSpec('now'), NOW);
      await store.pauseSchedule('s', { at: NOW, by: 'me' }, null);
      await store.pauseSchedule('s', null, NOW);
      await store.removeSchedule('s');
      await store.register(newWorker('w1'));
      await store.unregister('w1');
    });
    expect(kindsAndJobs(seen)).toEqual([
      ...['schedule-added -', 'enqueued t', 'tick t', 'tick -', 'enqueued now', 'tick now'],
      ...[
        'schedule-paused -',
        'schedule-resumed -',
        'schedule-removed -',
        'worker-ready -',
        'worker-stopped -',
      ],
    ]);
    expect(seen[2]!.detail).toMatchObject({ schedule: 's', scheduled_at: '2030-01-01T00:00:00.000Z' });
    expect(seen.slice(-2).map((one) => one.detail.worker_id)).toEqual(['w1', 'w1']);
  },

  'enqueued hooks and pruned jobs make events': async ({ store }) => {
    const job = await startJob(store, 'a');
    const hooks = [jobSpec('h', { queue: 'hooks' })];
    const seen = await eventsOf(store, async () => {
      await store.settle(ending(job, succeeded, NOW, { hooks }));
      await store.prune('completed', { ageMs: null, count: 0, bytes: null }, NOW);
      await store.prune('completed', { ageMs: null, count: 0, bytes: null }, NOW);
    });
    expect(kindsAndJobs(seen)).toEqual(['completed a', 'enqueued h', 'jobs-pruned -']);
    expect(seen[2]!.detail).toEqual({ state: 'completed', jobs: 1, bytes: 0 });
  },

  'note stores an event with its details and its actor': async ({ store }) => {
    const detail = { operation: 'x', action: 'hold', jobs: 3 };
    const [seen] = await eventsOf(store, () =>
      store.withActor('somebody').note({ kind: 'operation-begun', detail }),
    );
    expect(seen).toMatchObject({ kind: 'operation-begun', actor: 'somebody', jobId: null, detail });
  },

  'pruning events by count keeps the newest, and numbers are never reused': async ({ store }) => {
    for (const id of ['a', 'b', 'c']) await store.insert([jobSpec(id)], NOW);
    const keep = { ageMs: null, count: 1 };
    expect(await store.prunableEvents(keep, NOW)).toBe(2);
    expect(await store.pruneEvents(keep, NOW)).toBe(2);
    expect(await store.pruneEvents(keep, NOW)).toBe(0);
    expect(kindsAndJobs(await allEvents(store))).toEqual(['enqueued c']);
    expect(await store.pruneEvents({ ageMs: null, count: 0 }, NOW)).toBe(1);
    expect([await allEvents(store), await store.lastEventNumber()]).toEqual([[], 3]);
    await store.insert([jobSpec('d')], NOW);
    expect((await allEvents(store)).map((one) => one.number)).toEqual([4]);
  },

  'pruning by age removes many old events in several steps': async ({ store }) => {
    await store.insert(specs(3), NOW);
    for (let i = 0; i < 1100; i++) await store.setQueue('q', { concurrency: 1 });
    const week = { ageMs: 7 * DAY_MS, count: null };
    expect(await store.prunableEvents(week, Date.now())).toBe(0);
    expect(await store.pruneEvents(week, Date.now())).toBe(0);
    const later = Date.now() + 8 * DAY_MS;
    expect(await store.prunableEvents(week, later)).toBe(1103);
    const first = await store.pruneEvents(week, later);
    expect(first).toBeLessThan(1103);
    expect(first + (await store.pruneEvents(week, later))).toBe(1103);
    expect(await allEvents(store)).toEqual([]);
  },

  'lastEventNumberBefore returns the number of the last event before a time': async ({ store }) => {
    expect(await store.lastEventNumberBefore(0)).toBe(0);
    const before = Date.now();
    await store.insert(specs(3), NOW);
    expect(await store.lastEventNumberBefore(before)).toBe(0);
    expect(await store.lastEventNumberBefore(Date.now() + DAY_MS)).toBe(3);
  },
};
