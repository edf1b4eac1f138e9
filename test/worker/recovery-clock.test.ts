import { expect, test } from 'bun:test';
import { join } from 'node:path';
import type { App } from '../../src/actions/app.ts';
import { observerClock } from '../../src/actions/workers/workers.ts';
import { resolveSettings } from '../../src/core/settings/stored-settings.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { newRecovery, recover, untilEnded } from '../../src/worker/recovery.ts';
import { createTurns } from '../../src/worker/slots.ts';
import type { WorkerState } from '../../src/worker/state.ts';
import { ending, LEASE_MS, NOW, newWorker, startJob } from '../support/jobs.ts';
import { until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

const HOUR_MS = 3_600_000;
const OBSERVER_HOST = { id: 'here', boot: 'boot', pidNamespace: 'pid:[1]' };

interface ObserverWorld {
  /** The times of the wall clock and of the monotonic clock. */
  clock: { wall: number; monotonic: number };
  /** Runs recovery on another host, which cannot see the worker's process. Returns how many jobs it adopted. */
  runRecovery(): Promise<number>;
  /** Renews the heartbeat of the observed worker. */
  beat(): Promise<unknown>;
}

function withObserver(body: (world: ObserverWorld) => Promise<void>): Promise<void> {
  return inTempDir(async (dir) => {
    const opened = await openSqlite(join(dir, 'queue.db'));
    const { store } = opened;
    const clock = { wall: NOW, monotonic: 0 };
    const app: App = {
      ...{ ...opened, random: () => 0, newId: String },
      clock: { now: () => clock.wall, monotonic: () => clock.monotonic },
    };
    const observer = {
      ...{ app, id: 'w2', host: OBSERVER_HOST, order: null, live: new Map(), ended: [], emit: () => {} },
      settings: resolveSettings(new Map([['lease', `${LEASE_MS}ms`]])),
      recovery: { ...newRecovery(), clock: (monotonic: number) => monotonic },
      ...{
        throttle: { limitSlots() {} },
        loops: { work: { runNow() {} }, trim: { start() {} }, share: { start() {} } },
        turns: createTurns(1),
      },
      options: { concurrency: 1 },
    } as unknown as WorkerState;
    try {
      await store.register(newWorker('w1'));
      await store.register(newWorker('w2', { host: OBSERVER_HOST }));
      await startJob(store, 'a');
      await body({
        clock,
        runRecovery: () => recover(observer),
        beat: () => store.beat('w1', false, LEASE_MS, clock.wall),
      });
    } finally {
      await store.close();
    }
  });
}

for (const step of [HOUR_MS, -HOUR_MS, 365 * 24 * HOUR_MS]) {
  test(`a wall clock that steps by ${step / HOUR_MS}h expires no lease`, () =>
    withObserver(async ({ clock, runRecovery, beat }) => {
      await runRecovery();
      clock.wall += step;
      clock.monotonic += LEASE_MS;
      expect(await runRecovery()).toBe(0);
      await beat();
      clock.monotonic += LEASE_MS;
      expect(await runRecovery()).toBe(0);
    }));

  test(`a lease ends by the observer's own clock although the wall clock steps by ${step / HOUR_MS}h`, () =>
    withObserver(async ({ clock, runRecovery }) => {
      await runRecovery();
      clock.wall += step;
      clock.monotonic += LEASE_MS + 1;
      expect(await runRecovery()).toBe(1);
    }));
}

test('a cancel leaves a job to its worker on another host, even if its heartbeat is an hour old by the wall clock', () =>
  inTempDir(async (dir) => {
    const opened = await openSqlite(join(dir, 'queue.db'));
    const { store } = opened;
    let clockReads = 0;
    const monotonic = (): number => clockReads++;
    const clock = { now: () => NOW + HOUR_MS, monotonic };
    try {
      await store.register(newWorker('w1'));
      const job = await startJob(store, 'a');
      await store.cancel(['a'], NOW);
      const ended = untilEnded({ ...opened, clock, random: () => 0, newId: String }, ['a']);
      await until(() => clockReads > 2, 'the cancel has checked the worker several times');
      expect(await store.settle(ending(job, { why: 'cancelled' }))).toBe('applied');
      expect(await ended).toEqual(['a']);
    } finally {
      await store.close();
    }
  }));

test('an observer counts the time between two checks, but at most a third of the lease', () => {
  const clock = observerClock();
  const readings = [0, 5000, 10_000, 600_000, 605_000].map((at) => clock(at, LEASE_MS));
  expect(readings).toEqual([0, 5000, 10_000, 20_000, 25_000]);
});
