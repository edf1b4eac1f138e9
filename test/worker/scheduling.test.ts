import { describe, expect, test } from 'bun:test';
import type { App } from '../../src/actions/app.ts';
import { addSchedule, pauseSchedule, resumeSchedule } from '../../src/actions/schedules.ts';
import { QueueError } from '../../src/core/errors.ts';
import { idMaker } from '../../src/core/jobs/new-id.ts';
import type { WorkerEvent } from '../../src/core/rules/events.ts';
import type { ScheduleSpec } from '../../src/core/schedules/schedule.ts';
import { toIso } from '../../src/core/time/time.ts';
import { stateDirectory } from '../../src/state/state-directory.ts';
import type { Store } from '../../src/store/store.ts';
import { fireDueTicks, newScheduling } from '../../src/worker/schedules.ts';
import { nextTick } from '../conformance/agenda.ts';
import { claim, ending, NOW, succeeded } from '../support/jobs.ts';
import { withSqlite } from '../support/sqlite.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Holds a store, a clock that is set by hand, and schedulers that run on request. */
class World {
  wall = NOW;
  monotonic = 5000;
  events: WorkerEvent[] = [];
  readonly app: App;
  readonly store: Store;

  constructor(store: Store) {
    this.store = store;
    this.app = {
      store,
      stateDirectory: stateDirectory('/nonexistent'),
      wakeups: {
        ...{ wake() {}, tellChange() {}, reopensCheaply: false },
        ...{ onWake: () => null, onChange: () => null },
      },
      clock: { now: () => this.wall, monotonic: () => this.monotonic },
      random: Math.random,
      newId: idMaker(Math.random),
    };
  }

  /** Lets time pass on both clocks. */
  pass(ms: number): void {
    this.wall += ms;
    this.monotonic += ms;
  }

  /** Moves the wall clock alone. */
  moveWallClock(ms: number): void {
    this.wall += ms;
  }

  scheduler() {
    const emit = (event: WorkerEvent): void => void this.events.push(event);
    const worker = { app: this.app, emit, id: 'w1', scheduling: newScheduling() };
    return { runOnce: async () => fireDueTicks(worker, await nextTick(this.store)) };
  }

  /** Adds a schedule that fires every minute, unless `overrides` has another timing. */
  add(overrides: Partial<ScheduleSpec> = {}) {
    return addSchedule(this.app, {
      name: 's',
      timing: { kind: 'every', everyMs: MINUTE_MS, anchorAt: NOW },
      overlap: 'allow',
      catchUp: 'one',
      job: { command: 'true', cwd: '/' },
      ...overrides,
    });
  }

  /** Returns the scheduled times of all jobs in the order of their enqueue, in ms since NOW. */
  async ticks(): Promise<number[]> {
    const jobs = await this.store.list({}, { limit: 10_000 });
    return jobs.map((job) => Date.parse(job.env.QUEUECTL_SCHEDULED_AT!) - NOW).reverse();
  }

  /** Lets `ms` pass and runs a scheduler every `step` ms. */
  async runFor(scheduler: ReturnType<World['scheduler']>, ms: number, step: number): Promise<void> {
    for (let elapsed = 0; elapsed < ms; elapsed += step) {
      this.pass(step);
      await scheduler.runOnce();
    }
  }
}

const inWorld = (body: (world: World) => Promise<void>) => () =>
  withSqlite((store) => body(new World(store)));

/** Returns the times of these minutes, in ms since NOW. */
const minutes = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, i) => (from + i) * MINUTE_MS);

describe('the scheduler', () => {
  test(
    'fires at the tick, returns the time of the next one, and gives the job its time and name',
    inWorld(async (world) => {
      await world.add();
      const scheduler = world.scheduler();
      expect(await scheduler.runOnce()).toEqual({ enqueued: 0, nextAt: NOW + MINUTE_MS });
      world.pass(MINUTE_MS - 1);
      expect(await scheduler.runOnce()).toEqual({ enqueued: 0, nextAt: NOW + MINUTE_MS });
      world.pass(1);
      expect(await scheduler.runOnce()).toEqual({ enqueued: 1, nextAt: NOW + 2 * MINUTE_MS });
      expect(await scheduler.runOnce()).toEqual({ enqueued: 0, nextAt: NOW + 2 * MINUTE_MS });
      const [job] = await world.store.list({}, { limit: 9 });
      const env = { QUEUECTL_SCHEDULE: 's', QUEUECTL_SCHEDULED_AT: toIso(NOW + MINUTE_MS) };
      expect(job).toMatchObject({ name: 's', env, maxRetries: 3 });
    }),
  );

  test(
    'returns no next time without a schedule',
    inWorld(async (world) => {
      expect(await world.scheduler().runOnce()).toEqual({ enqueued: 0, nextAt: null });
    }),
  );

  test(
    'fires every tick once if several schedulers run',
    inWorld(async (world) => {
      await world.add();
      const schedulers = [1, 2, 3, 4].map(() => world.scheduler());
      for (let i = 0; i < 10; i++) {
        world.pass(MINUTE_MS / 2);
        await Promise.all(schedulers.map((one) => one.runOnce()));
      }
      expect(await world.ticks()).toEqual(minutes(1, 5));
    }),
  );

  test(
    'fires every tick since its last run, even with catch-up none',
    inWorld(async (world) => {
      await world.add({ catchUp: 'none' });
      const scheduler = world.scheduler();
      await scheduler.runOnce();
      world.pass(5 * MINUTE_MS + 1);
      expect((await scheduler.runOnce()).enqueued).toBe(5);
      expect(await world.ticks()).toEqual(minutes(1, 5));
    }),
  );

  test('fires a schedule whose row has an impossible number of waiting ticks', () =>
    withSqlite(async (store, connection) => {
      const world = new World(store);
      await world.add();
      connection.exec(`UPDATE schedule SET waiting = ${2 ** 32 + 1}`);
      world.pass(MINUTE_MS);
      expect((await world.scheduler().runOnce()).enqueued).toBe(1);
      expect(connection.get('SELECT waiting FROM schedule')).toEqual({ waiting: 0 });
    }));

  test(
    'follows the local time across a change to summer time',
    inWorld(async (world) => {
      world.moveWallClock(Date.UTC(2030, 2, 30) - NOW);
      await world.add({ timing: { kind: 'cron', cron: '30 2 * * *', zone: 'Europe/Berlin' } });
      await world.runFor(world.scheduler(), 3 * DAY_MS, 10 * MINUTE_MS);
      const expected = ['2030-03-30T01:30', '2030-03-31T01:30', '2030-04-01T00:30'];
      expect((await world.ticks()).map((at) => toIso(NOW + at).slice(0, 16))).toEqual(expected);
    }),
  );
});

describe('missed ticks', () => {
  const cases: [title: string, catchUp: 'none' | 'one' | 'all', expected: number[]][] = [
    ['are skipped with catch-up none', 'none', []],
    ['are skipped except the last one with catch-up one', 'one', minutes(60, 60)],
    ['all fire with catch-up all', 'all', minutes(1, 60)],
  ];
  for (const [title, catchUp, expected] of cases) {
    test(
      title,
      inWorld(async (world) => {
        await world.add({ catchUp });
        world.pass(HOUR_MS + 30 * SECOND_MS);
        const scheduler = world.scheduler();
        await scheduler.runOnce();
        expect(await world.ticks()).toEqual(expected);
        await world.runFor(scheduler, MINUTE_MS, SECOND_MS);
        expect(await world.ticks()).toEqual([...expected, 61 * MINUTE_MS]);
      }),
    );
  }

  test(
    'fire even with catch-up none if they are only half a second late',
    inWorld(async (world) => {
      await world.add({ catchUp: 'none' });
      world.pass(MINUTE_MS + 500);
      await world.scheduler().runOnce();
      expect(await world.ticks()).toEqual(minutes(1, 1));
    }),
  );

  test(
    'are limited to the last thousand with catch-up all',
    inWorld(async (world) => {
      await world.add({ catchUp: 'all' });
      world.pass(400 * DAY_MS);
      await world.scheduler().runOnce();
      const ticks = await world.ticks();
      expect(ticks).toHaveLength(1000);
      expect(ticks.at(-1)).toBe(400 * DAY_MS);
    }),
  );

  test(
    'run one after another with catch-up all if jobs must not overlap',
    inWorld(async (world) => {
      await world.add({ catchUp: 'all', overlap: 'skip' });
      world.pass(3 * MINUTE_MS + 30 * SECOND_MS);
      const scheduler = world.scheduler();
      for (const expected of [1, 2, 3, 3]) {
        await scheduler.runOnce();
        expect(await world.ticks()).toHaveLength(expected);
        const [job] = await claim(world.store, {}, world.wall);
        if (job !== undefined) await world.store.settle(ending(job, succeeded, world.wall));
      }
      expect(await world.ticks()).toEqual(minutes(1, 3));
    }),
  );

  test(
    'of a paused schedule are not caught up',
    inWorld(async (world) => {
      await world.add({ catchUp: 'all' });
      const scheduler = world.scheduler();
      await scheduler.runOnce();
      await pauseSchedule(world.app, 's', 'me');
      await world.runFor(scheduler, 5 * MINUTE_MS, 10 * SECOND_MS);
      await resumeSchedule(world.app, 's');
      await world.runFor(scheduler, 2 * MINUTE_MS, 10 * SECOND_MS);
      expect(await world.ticks()).toEqual(minutes(6, 7));
    }),
  );
});

describe('a clock that is set', () => {
  for (const [what, step] of [
    ['an hour', HOUR_MS],
    ['a year', 365 * DAY_MS],
  ] as const) {
    test(
      `${what} ahead fires no burst of ticks`,
      inWorld(async (world) => {
        await world.add({ timing: { kind: 'every', everyMs: SECOND_MS, anchorAt: NOW } });
        const scheduler = world.scheduler();
        await world.runFor(scheduler, 3 * SECOND_MS, SECOND_MS);
        world.moveWallClock(step);
        await world.runFor(scheduler, SECOND_MS, SECOND_MS);
        // One tick fires for all that were skipped, and those within the grace period follow.
        expect((await world.ticks()).length).toBeLessThanOrEqual(3 + 1 + 2);
      }),
    );

    test(
      `${what} ahead and back again fires each tick once`,
      inWorld(async (world) => {
        await world.add();
        const scheduler = world.scheduler();
        await world.runFor(scheduler, 3 * MINUTE_MS, 10 * SECOND_MS);
        world.moveWallClock(step);
        await world.runFor(scheduler, 2 * MINUTE_MS, 10 * SECOND_MS);
        const ticksBefore = await world.ticks();
        world.moveWallClock(-step);
        await world.runFor(scheduler, 3 * MINUTE_MS, 10 * SECOND_MS);
        const ticks = await world.ticks();
        expect(ticks.slice(ticksBefore.length)).toEqual(minutes(6, 8));
        expect(new Set(ticks).size).toBe(ticks.length);
      }),
    );
  }

  test(
    'back repeats no tick',
    inWorld(async (world) => {
      await world.add();
      const scheduler = world.scheduler();
      await world.runFor(scheduler, 30 * MINUTE_MS, 10 * SECOND_MS);
      world.moveWallClock(-20 * MINUTE_MS);
      await world.runFor(scheduler, 25 * MINUTE_MS, 10 * SECOND_MS);
      expect(await world.ticks()).toEqual(minutes(1, 35));
    }),
  );

  test(
    'back while no worker ran does not delay the ticks of the next worker',
    inWorld(async (world) => {
      world.moveWallClock(365 * DAY_MS);
      await world.add();
      world.moveWallClock(-365 * DAY_MS);
      await world.runFor(world.scheduler(), 2 * MINUTE_MS, 10 * SECOND_MS);
      expect(await world.ticks()).toEqual(minutes(1, 2));
    }),
  );
});

test(
  'an invalid schedule does not stop the other schedules, and is reported once',
  inWorld(async (world) => {
    await world.add();
    const timing = { kind: 'cron', cron: 'no cron', zone: 'UTC' } as const;
    const job = { command: 'true', cwd: '/' };
    await world.store.addSchedule({ name: 'bad', timing, overlap: 'skip', catchUp: 'one', job }, NOW, NOW);
    const scheduler = world.scheduler();
    await world.runFor(scheduler, 2 * MINUTE_MS, 10 * SECOND_MS);
    expect(await world.ticks()).toEqual(minutes(1, 2));
    const errors = world.events.filter((event) => event.type === 'worker-error');
    expect(errors).toMatchObject([{ message: expect.stringContaining('schedule bad') }]);
    expect((await scheduler.runOnce()).nextAt).toBeGreaterThan(world.wall);
  }),
);

describe('many schedules', () => {
  const COUNT = 250;

  /** Counts the calls of `fire`, each of which is one transaction, and the schedules in them. */
  function countFirings(world: World): { schedules: number }[] {
    const calls: { schedules: number }[] = [];
    const { fire } = world.store;
    world.store.fire = (firings, now) => {
      calls.push({ schedules: firings.length });
      return fire(firings, now);
    };
    return calls;
  }

  async function addMany(world: World, overrides: Partial<ScheduleSpec> = {}): Promise<void> {
    for (let i = 0; i < COUNT; i++) await world.add({ name: `s${i}`, ...overrides });
  }

  test(
    'fire in transactions of a hundred, and jobs can be claimed between them',
    inWorld(async (world) => {
      await addMany(world);
      const calls = countFirings(world);
      const scheduler = world.scheduler();
      await scheduler.runOnce();
      world.pass(MINUTE_MS);
      const rounds = [await scheduler.runOnce(), await scheduler.runOnce(), await scheduler.runOnce()];
      expect(rounds).toEqual([
        { enqueued: 100, nextAt: world.wall },
        { enqueued: 100, nextAt: world.wall },
        { enqueued: 50, nextAt: world.wall + MINUTE_MS },
      ]);
      expect(calls).toEqual([{ schedules: 100 }, { schedules: 100 }, { schedules: 50 }]);
    }),
  );

  test(
    'fire late, not as missed, if the last of them are reached only after a minute',
    inWorld(async (world) => {
      await addMany(world, { catchUp: 'none' });
      const scheduler = world.scheduler();
      await scheduler.runOnce();
      for (let i = 0; i < 3; i++) {
        world.pass(MINUTE_MS);
        await scheduler.runOnce();
      }
      expect(await world.ticks()).toHaveLength(100 + 2 * 100 + 3 * 50);
    }),
  );

  test(
    'with many missed ticks fire in small transactions',
    inWorld(async (world) => {
      await addMany(world, { catchUp: 'all' });
      const calls = countFirings(world);
      world.pass(60 * MINUTE_MS);
      expect((await world.scheduler().runOnce()).enqueued).toBe(100 * 60);
      expect(calls).toEqual(Array(50).fill({ schedules: 2 }));
    }),
  );

  test(
    'are left to the worker that fires them first, and are checked again a second later',
    inWorld(async (world) => {
      await addMany(world);
      const [first, second] = [world.scheduler(), world.scheduler()];
      world.pass(MINUTE_MS);
      const { dueSchedules } = world.store;
      // The second worker reads the same schedules as the first, and is slower.
      const page = await dueSchedules(world.wall, 0, 100);
      await first.runOnce();
      const calls = countFirings(world);
      world.store.dueSchedules = async () => page;
      expect(await second.runOnce()).toEqual({ enqueued: 0, nextAt: world.wall + SECOND_MS });
      expect(calls).toHaveLength(1);
      world.store.dueSchedules = dueSchedules;
      world.pass(SECOND_MS);
      expect((await second.runOnce()).enqueued).toBe(100);
      expect((await second.runOnce()).enqueued).toBe(50);
    }),
  );

  test(
    'fire although a hundred others are invalid',
    inWorld(async (world) => {
      const timing = { kind: 'cron', cron: 'no cron', zone: 'UTC' } as const;
      const invalid = {
        timing,
        overlap: 'skip',
        catchUp: 'one',
        job: { command: 'true', cwd: '/' },
      } as const;
      for (let i = 0; i < 100; i++) await world.store.addSchedule({ name: `bad${i}`, ...invalid }, NOW, NOW);
      await addMany(world);
      world.pass(MINUTE_MS);
      const scheduler = world.scheduler();
      const enqueued: number[] = [];
      for (let i = 0; i < 4; i++) enqueued.push((await scheduler.runOnce()).enqueued);
      expect(enqueued).toEqual([0, 100, 100, 50]);
    }),
  );

  test(
    'each fire alone if the job of one cannot be added',
    inWorld(async (world) => {
      for (const name of ['a', 'b', 'c']) await world.add({ name });
      const { fire } = world.store;
      world.store.fire = async (firings, now) => {
        if (firings.some(({ schedule }) => schedule.name === 'b'))
          throw new QueueError('job-exists', 'taken');
        return fire(firings, now);
      };
      world.pass(MINUTE_MS);
      expect((await world.scheduler().runOnce()).enqueued).toBe(2);
      const errors = world.events.filter((event) => event.type === 'worker-error');
      expect(errors).toMatchObject([{ message: 'schedule b: taken' }]);
    }),
  );
});
