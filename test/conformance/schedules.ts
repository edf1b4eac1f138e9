import { expect } from 'bun:test';
import type { Job, JobSpec } from '../../src/core/jobs/job.ts';
import type { Schedule, ScheduleSpec } from '../../src/core/schedules/schedule.ts';
import { toIso } from '../../src/core/time/time.ts';
import type { FiredTick } from '../../src/store/contract/schedules.ts';
import type { Store } from '../../src/store/store.ts';
import { claim, ending, ids, jobSpec, NOW, succeeded } from '../support/jobs.ts';
import { nextTick } from './agenda.ts';
import type { Case } from './topic.ts';

const SECOND_MS = 1000;
const spec = (over: Partial<ScheduleSpec> = {}): ScheduleSpec => ({
  name: 's',
  timing: { kind: 'every', everyMs: SECOND_MS, anchorAt: NOW },
  overlap: 'skip',
  catchUp: 'one',
  job: { command: 'true' },
  ...over,
});

const add = (store: Store, over: Partial<ScheduleSpec> = {}): Promise<Schedule> =>
  store.addSchedule(spec(over), NOW + SECOND_MS, NOW);

const current = async (store: Store): Promise<Schedule> => (await store.schedules())[0]!;

/** Numbers the jobs of waiting ticks, because the times of these ticks are not available in `fire`. */
let waitedJobCount = 0;

interface FireOptions {
  mayWait?: boolean;
  version?: Schedule;
  nextAt?: number | null;
  job?: JobSpec;
}

/** Fires the ticks at these seconds, for the current schedule or an earlier `version` of it. Job ids contain the second. */
async function fire(
  store: Store,
  seconds: number[],
  { mayWait = false, version, nextAt, job = jobSpec('of every tick') }: FireOptions = {},
): Promise<FiredTick[] | null> {
  const schedule = version ?? (await current(store));
  const last = NOW + (seconds.at(-1) ?? 0) * SECOND_MS;
  const ticks = seconds.map((second) => ({ at: NOW + second * SECOND_MS, mayWait, jobId: `tick${second}` }));
  const waitingJobIds = Array.from({ length: schedule.waiting }, () => `waited${++waitedJobCount}`);
  const next = nextAt === undefined ? last + SECOND_MS : nextAt;
  return (await store.fire([{ schedule, ticks, nextAt: next, waitingJobIds, job }], last))[0]!;
}

const results = (fired: FiredTick[] | null): (string | null)[] | undefined =>
  fired?.map(({ at, job, waits }) =>
    job === null ? (waits ? 'waits' : 'skipped') : `tick${(at - NOW) / SECOND_MS}`,
  );

/** Claims the next job, completes it and returns it. */
async function completeNext(store: Store, now = NOW + 60 * SECOND_MS): Promise<Job> {
  const [running] = await claim(store, {}, now);
  await store.settle(ending(running!, succeeded, now));
  return running!;
}

export const schedules: Record<string, Case> = {
  'a schedule is stored as given, and its name is unique': async ({ store, another }) => {
    const cron = { kind: 'cron', cron: '0 3 * * *', zone: 'Europe/Berlin' } as const;
    const given = spec({
      timing: cron,
      overlap: 'queue',
      catchUp: 'all',
      job: { argv: ['a'], timeoutMs: null },
    });
    const added = await store.addSchedule(given, NOW + 5, NOW);
    expect(added).toMatchObject({ ...given, nextAt: NOW + 5, createdAt: NOW, pausedAt: null, waiting: 0 });
    await store.addSchedule(spec({ name: 'a' }), NOW, NOW);
    expect((await (await another()).schedules()).map((one) => one.name)).toEqual(['a', 's']);
    const again = store.addSchedule(spec(), NOW, NOW).catch((error) => error);
    expect(await again).toMatchObject({ code: 'schedule-exists' });
    expect((await store.schedules())[1]).toEqual(added);
  },

  'a tick becomes one job, whichever worker fires it': async ({ store, another }) => {
    const version = await add(store, { overlap: 'allow' });
    expect(await nextTick(store)).toBe(NOW + SECOND_MS);
    expect(await store.dueSchedules(NOW + SECOND_MS - 1, 0, 9)).toEqual([]);
    expect(await store.dueSchedules(NOW + SECOND_MS, 0, 9)).toEqual([version]);
    expect(results(await fire(store, [1]))).toEqual(['tick1']);
    expect(await fire(await another(), [1], { version })).toBeNull();
    expect(await nextTick(store)).toBe(NOW + 2 * SECOND_MS);
    expect(await current(store)).toMatchObject({ lastAt: NOW + SECOND_MS, lastJob: 'tick1' });
    expect(ids(await store.list({}, { limit: 9 }))).toEqual(['tick1']);
  },

  'a tick that was handled is not repeated, whatever the next tick of the schedule is': async ({ store }) => {
    await add(store, { overlap: 'allow' });
    await fire(store, [1, 2]);
    await fire(store, []);
    expect(await nextTick(store)).toBe(NOW + SECOND_MS);
    expect(results(await fire(store, [1, 2, 3]))).toEqual(['tick3']);
  },

  'a tick whose job cannot be added changes nothing': async ({ store }) => {
    const version = await add(store, { overlap: 'allow' });
    await store.insert([jobSpec('tick2')], NOW);
    const refused = await fire(store, [1, 2]).catch((error) => error);
    expect(refused).toMatchObject({ code: 'job-exists' });
    expect(await store.schedules()).toEqual([version]);
    expect(await store.get('tick1')).toBeNull();
    expect(results(await fire(store, [1]))).toEqual(['tick1']);
  },

  'due schedules are read in pages, also those with a waiting tick': async ({ store }) => {
    for (const name of ['d', 'c', 'b', 'a']) await add(store, { name, overlap: 'queue' });
    const names = async (after: number, limit: number) =>
      (await store.dueSchedules(NOW + SECOND_MS, after, limit)).map((one) => one.name);
    const [d, c] = await store.dueSchedules(NOW + SECOND_MS, 0, 2);
    expect(await names(0, 9)).toEqual(['d', 'c', 'b', 'a']);
    expect(await names(d!.number, 2)).toEqual(['c', 'b']);
    await fire(store, [1, 2], { version: c!, mayWait: true });
    expect(await names(0, 9)).toEqual(['d', 'b', 'a']);
    await completeNext(store);
    expect(await names(0, 2)).toEqual(['d', 'c']);
    expect(await names(c!.number, 9)).toEqual(['b', 'a']);
  },

  'many schedules fire at once, each as if it fired alone': async ({ store }) => {
    const key = { key: 'k', while: 'active', forMs: null } as const;
    const added = [
      await add(store, { name: 'skip' }),
      await add(store, { name: 'keyed', overlap: 'allow' }),
      await add(store, { name: 'paused' }),
      await add(store, { name: 'queue', overlap: 'queue' }),
      await add(store, { name: 'allow', overlap: 'allow' }),
    ];
    await store.pauseSchedule('paused', { at: NOW, by: 'me' }, null);
    const before = await store.lastEventNumber();
    const firings = added.map((schedule) => ({
      schedule,
      ticks: [1, 2].map((second) => ({
        at: NOW + second * SECOND_MS,
        mayWait: schedule.name === 'queue',
        jobId: `${schedule.name}${second}`,
      })),
      nextAt: NOW + 3 * SECOND_MS,
      waitingJobIds: [],
      job: { ...jobSpec('of every tick'), unique: schedule.name === 'keyed' ? key : null },
    }));
    const fired = await store.fire(firings, NOW + 2 * SECOND_MS);
    expect(fired.map(results)).toEqual([
      ['tick1', 'skipped'],
      ['tick1', 'skipped'],
      undefined,
      ['tick1', 'waits'],
      ['tick1', 'tick2'],
    ]);
    const jobs = ['skip1', 'keyed1', 'queue1', 'allow1', 'allow2'];
    expect(ids(await store.list({}, { limit: 9 })).reverse()).toEqual(jobs);
    expect(ids(await claim(store, { limit: 9 }, NOW + 9 * SECOND_MS))).toEqual(jobs);
    const events = await store.events(before, 99);
    const enqueued = events.filter(({ kind }) => kind === 'enqueued');
    expect(enqueued.map(({ jobId }) => jobId)).toEqual(jobs);
    const ticks = events.filter(({ kind }) => kind === 'tick');
    expect(ticks.map(({ jobId, detail }) => [detail.schedule, jobId])).toEqual([
      ...[['skip', 'skip1'] as [string, string | null], ['skip', null], ['keyed', 'keyed1'], ['keyed', null]],
      ...[['queue', 'queue1'] as [string, string | null], ['queue', null]],
      ...[['allow', 'allow1'] as [string, string | null], ['allow', 'allow2']],
    ]);
    const stored = new Map((await store.schedules()).map((one) => [one.name, one]));
    expect(stored.get('skip')).toMatchObject({ lastJob: 'skip1', lastAt: NOW + SECOND_MS, waiting: 0 });
    expect(stored.get('keyed')).toMatchObject({ lastJob: 'keyed1', nextAt: NOW + 3 * SECOND_MS });
    expect(stored.get('paused')).toMatchObject({ lastJob: null, nextAt: null });
    expect(stored.get('queue')).toMatchObject({ lastJob: 'queue1', waiting: 1 });
    expect(stored.get('allow')).toMatchObject({ lastJob: 'allow2', lastAt: NOW + 2 * SECOND_MS });
    expect(await store.fire(firings, NOW + 2 * SECOND_MS)).toEqual(Array(5).fill(null));
  },

  'if the job of one schedule cannot be added, none fires': async ({ store }) => {
    const added = [await add(store, { name: 'a' }), await add(store, { name: 'b' })];
    await store.insert([jobSpec('b1')], NOW);
    const firings = added.map((schedule) => ({
      schedule,
      ticks: [{ at: NOW + SECOND_MS, mayWait: false, jobId: `${schedule.name}1` }],
      nextAt: NOW + 2 * SECOND_MS,
      waitingJobIds: [],
      job: jobSpec('of every tick'),
    }));
    const refused = await store.fire(firings, NOW + SECOND_MS).catch((error) => error);
    expect(refused).toMatchObject({ code: 'job-exists' });
    expect(await store.schedules()).toEqual(added);
    expect(ids(await store.list({}, { limit: 9 }))).toEqual(['b1']);
  },

  'with overlap skip, no tick fires while a job is unfinished': async ({ store }) => {
    await add(store);
    expect(results(await fire(store, [1, 2]))).toEqual(['tick1', 'skipped']);
    const [running] = await claim(store);
    expect(results(await fire(store, [3]))).toEqual(['skipped']);
    await store.settle(ending(running!, succeeded));
    expect(results(await fire(store, [4]))).toEqual(['tick4']);
    await store.remove(['tick4'], ['pending'], NOW);
    expect(results(await fire(store, [5]))).toEqual(['tick5']);
  },

  'with overlap queue, ticks run one after another': async ({ store }) => {
    await add(store, { overlap: 'queue' });
    const canWait = { mayWait: true };
    expect(results(await fire(store, [1, 2, 3], canWait))).toEqual(['tick1', 'waits', 'waits']);
    expect(await current(store)).toMatchObject({ waiting: 2 });
    expect(await nextTick(store)).toBe(NOW + 4 * SECOND_MS);
    await completeNext(store);
    expect(await nextTick(store)).toBe(0);
    const [version] = await store.dueSchedules(NOW, 0, 9);
    const release = { version: version!, nextAt: version!.nextAt };
    expect(results(await fire(store, [], release))).toEqual(['tick2']);
    expect(await fire(store, [], release)).toBeNull();
    expect(await completeNext(store)).toMatchObject({
      env: { QUEUECTL_SCHEDULED_AT: toIso(NOW + 2 * SECOND_MS) },
    });
    expect(results(await fire(store, [4], canWait))).toEqual(['tick3', 'waits']);
    await completeNext(store);
    expect(results(await fire(store, []))).toEqual(['tick4']);
    expect(await current(store)).toMatchObject({ waiting: 0 });
  },

  'with overlap allow, ticks fire even while jobs are unfinished': async ({ store }) => {
    await add(store, { overlap: 'allow' });
    expect(results(await fire(store, [1, 2]))).toEqual(['tick1', 'tick2']);
    expect(results(await fire(store, [3]))).toEqual(['tick3']);
  },

  'a job has the command of its schedule and the id and time of its tick': async ({ store }) => {
    await add(store, { overlap: 'allow' });
    const job = jobSpec('of every tick', { command: 'report', env: { A: 'b' } });
    await fire(store, [1, 2], { job });
    for (const second of [1, 2])
      expect(await store.get(`tick${second}`)).toMatchObject({
        command: 'report',
        env: { A: 'b', QUEUECTL_SCHEDULED_AT: toIso(NOW + second * SECOND_MS) },
      });
    expect(await store.get('of every tick')).toBeNull();
  },

  'all waiting ticks fire after an edit that allows jobs to overlap': async ({ store }) => {
    await add(store, { overlap: 'queue' });
    await fire(store, [1, 2, 3], { mayWait: true });
    await store.editSchedule(spec({ overlap: 'allow' }), null);
    await completeNext(store);
    expect(results(await fire(store, [4]))).toEqual(['tick2', 'tick3', 'tick4']);
    expect(await current(store)).toMatchObject({ waiting: 0 });
  },

  'at most a thousand ticks wait': async ({ store }) => {
    await add(store, { overlap: 'queue' });
    const many = Array.from({ length: 1003 }, (_, i) => i + 1);
    const fired = results(await fire(store, many, { mayWait: true }))!;
    expect(fired.slice(0, 2)).toEqual(['tick1', 'waits']);
    expect(fired.slice(-2)).toEqual(['skipped', 'skipped']);
    expect(await current(store)).toMatchObject({ waiting: 1000 });
  },

  'a paused schedule does not fire and has no next tick, and a resumed one continues': async ({ store }) => {
    const version = await add(store);
    expect(await store.pauseSchedule('none', { at: NOW, by: 'me' }, null)).toBeNull();
    const paused = await store.pauseSchedule('s', { at: NOW, by: 'me' }, null);
    expect(paused).toMatchObject({ pausedAt: NOW, pausedBy: 'me', nextAt: null });
    expect(await nextTick(store)).toBeNull();
    expect(await store.dueSchedules(NOW + 9 * SECOND_MS, 0, 9)).toEqual([]);
    expect(await fire(store, [1], { version })).toBeNull();
    expect(await fire(store, [1])).toBeNull();
    expect(await store.pauseSchedule('s', null, NOW + 5 * SECOND_MS)).toMatchObject({ pausedAt: null });
    expect(await nextTick(store)).toBe(NOW + 5 * SECOND_MS);
  },

  'an edit changes the fields of a schedule, and its next tick only if one is given': async ({ store }) => {
    const version = await add(store, { job: { command: 'before' } });
    expect(await store.editSchedule(spec({ name: 'none' }), null)).toBeNull();
    const edited = await store.editSchedule(spec({ overlap: 'allow', job: { command: 'after' } }), null);
    expect(edited).toEqual({ ...version, overlap: 'allow', job: { command: 'after' } });
    const cron = { kind: 'cron', cron: '0 3 * * *', zone: 'Europe/Berlin' } as const;
    const moved = await store.editSchedule(spec({ timing: cron }), NOW + 7 * SECOND_MS);
    expect(moved).toMatchObject({ timing: cron, nextAt: NOW + 7 * SECOND_MS, overlap: 'skip' });
    // The earlier version of the schedule cannot fire any more.
    expect(await fire(store, [1], { version })).toBeNull();
    await store.pauseSchedule('s', { at: NOW, by: 'me' }, null);
    expect(await store.editSchedule(spec(), NOW + 9 * SECOND_MS)).toMatchObject({
      nextAt: null,
      pausedBy: 'me',
    });
    const edits = (await store.events(0, 99)).filter(({ kind }) => kind === 'schedule-edited');
    expect(edits.map(({ detail }) => detail)).toEqual(Array(3).fill({ schedule: 's' }));
  },

  'a removed schedule no longer fires, and its jobs stay': async ({ store }) => {
    await add(store, { overlap: 'queue' });
    await fire(store, [1, 2], { mayWait: true });
    const version = await current(store);
    expect(await store.removeSchedule('s')).toBe(true);
    expect(await store.removeSchedule('s')).toBe(false);
    expect(await fire(store, [3], { version })).toBeNull();
    expect(await store.get('tick1')).toMatchObject({ state: 'pending' });
    // A new schedule with the same name is not mistaken for the old one.
    await add(store, { overlap: 'allow' });
    expect(await fire(store, [3], { version })).toBeNull();
  },

  'fireNow does not change the next tick, and its job counts as unfinished': async ({ store }) => {
    await add(store);
    const at = NOW + SECOND_MS;
    expect(await store.fireNow('none', jobSpec('x'), at)).toBeNull();
    expect(await store.fireNow('s', jobSpec('now1'), at)).toMatchObject({ id: 'now1', state: 'pending' });
    expect(await store.fireNow('s', jobSpec('now2'), at)).toMatchObject({ id: 'now2' });
    expect(await nextTick(store)).toBe(at);
    expect(results(await fire(store, [1]))).toEqual(['skipped']);
  },

  'a tick whose unique key is taken is skipped, and the next one fires': async ({ store }) => {
    await add(store, { overlap: 'allow' });
    const unique = { key: 'k', while: 'active', forMs: null } as const;
    const tick = async (second: number) =>
      results(await fire(store, [second], { job: { ...jobSpec('keyed'), unique } }));
    expect(await tick(1)).toEqual(['tick1']);
    const before = await store.lastEventNumber();
    expect(await tick(2)).toEqual(['skipped']);
    expect(await current(store)).toMatchObject({ lastAt: NOW + SECOND_MS, lastJob: 'tick1' });
    expect(await store.events(before, 9)).toMatchObject([{ kind: 'tick', jobId: null }]);
    const at = NOW + 2500;
    expect(await store.fireNow('s', { ...jobSpec('now'), unique }, at)).toMatchObject({
      id: 'tick1',
      existing: true,
    });
    expect(await current(store)).toMatchObject({ lastAt: NOW + SECOND_MS, lastJob: 'tick1' });
    await completeNext(store);
    expect(await tick(3)).toEqual(['tick3']);
    expect(ids(await store.list({}, { limit: 9 }))).toEqual(['tick3', 'tick1']);
  },
};
