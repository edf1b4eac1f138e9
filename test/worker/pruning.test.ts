import { expect, test } from 'bun:test';
import { closeSync, existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../src/actions/app.ts';
import type { WorkerEvent } from '../../src/core/rules/events.ts';
import { resolveSettings } from '../../src/core/settings/stored-settings.ts';
import { type Lifeline, makeLifeline } from '../../src/exec/lifeline.ts';
import { attemptFiles } from '../../src/state/attempt-files.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { newPruning, prune, pruneDelayMs } from '../../src/worker/pruning.ts';
import { ending, ids, jobSpec, NOW, newWorker, startJob, succeeded } from '../support/jobs.ts';
import { inTempDir } from '../support/temp-dir.ts';

const DAY_MS = 86_400_000;

/** Runs `work` with an app whose clock is `days` after NOW, and with two registered workers. */
function withApp(days: number, work: (app: App) => Promise<void>): Promise<void> {
  return inTempDir(async (dir) => {
    const opened = await openSqlite(join(dir, 'queue.db'));
    const { store } = opened;
    const clock = { now: () => NOW + days * DAY_MS, monotonic: () => 0 };
    try {
      await store.register(newWorker('first'));
      await store.register(newWorker('second', { startedAt: NOW + 1 }));
      await work({ ...opened, clock, random: () => 0, newId: String });
    } finally {
      await store.close();
    }
  });
}

function createPruner(app: App, id: string, stored: Record<string, string> = {}) {
  const events: WorkerEvent[] = [];
  const settings = resolveSettings(new Map(Object.entries(stored)));
  const emit = (event: WorkerEvent): void => void events.push(event);
  const worker = { app, emit, id, settings, pruning: newPruning() };
  return { events, runOnce: () => prune(worker), delayMs: () => pruneDelayMs(worker) };
}

test('jobs older than the default retention are removed with their output, and younger ones stay', () =>
  withApp(31, async (app) => {
    const output = { bytes: 20_000, truncated: false, kept: null };
    const old = await startJob(app.store, 'old');
    const files = attemptFiles(app.stateDirectory, app.store.epoch, old.claim.attempt);
    mkdirSync(app.stateDirectory.attempts, { recursive: true });
    writeFileSync(files.output, '');
    await app.store.settle(ending(old, succeeded, NOW, { output }));
    await app.store.settle(ending(await startJob(app.store, 'young'), succeeded, NOW + 2 * DAY_MS));
    const pruner = createPruner(app, 'first', { 'keep-events': 'none' });
    await pruner.runOnce();
    expect(ids(await app.store.list({}, { limit: 9 }))).toEqual(['young']);
    expect(existsSync(files.output)).toBe(false);
    expect(pruner.delayMs()).toBeLessThan(1000);
    await pruner.runOnce();
    const range = { from: 0, to: NOW + 99 * DAY_MS };
    expect(await app.store.series({ tier: 'minute', ...range })).toEqual([]);
    expect(await app.store.series({ tier: 'day', ...range })).toHaveLength(2);
    await pruner.runOnce();
    expect(pruner.delayMs()).toBeGreaterThan(1000);
    expect(pruner.events).toEqual([{ type: 'jobs-pruned', workerId: 'first', jobs: 1, bytes: 20_000 }]);
  }));

test('only the worker that registered first prunes, and when it is gone the next worker does', () =>
  withApp(31, async (app) => {
    await app.store.settle(ending(await startJob(app.store, 'old'), succeeded, NOW));
    await app.store.unregister('w1');
    const second = createPruner(app, 'second');
    await second.runOnce();
    expect(await app.store.get('old')).not.toBeNull();
    await app.store.unregister('first');
    await second.runOnce();
    expect(await app.store.get('old')).toBeNull();
  }));

test('idempotency keys are removed after their time, in batches and without an event', () =>
  withApp(2, async (app) => {
    for (let i = 0; i < 60; i++)
      await app.store.insert([jobSpec(`job${i}`)], NOW, undefined, { key: String(i), body: '' });
    const pruner = createPruner(app, 'first', { 'keep-events': 'none' });
    await pruner.runOnce();
    expect(pruner.delayMs()).toBeLessThan(1000);
    await pruner.runOnce();
    await pruner.runOnce();
    expect(pruner.delayMs()).toBeGreaterThan(1000);
    expect(await app.store.forgetKeys(NOW + 9 * DAY_MS)).toBe(0);
    expect(pruner.events).toEqual([]);
  }));

test('keep-completed none keeps all completed jobs, and the worker emits no event', () =>
  withApp(5000, async (app) => {
    await app.store.settle(ending(await startJob(app.store, 'old'), succeeded, NOW));
    const pruner = createPruner(app, 'first', { 'keep-completed': 'none' });
    await pruner.runOnce();
    expect(await app.store.get('old')).not.toBeNull();
    expect(pruner.events).toEqual([]);
  }));

test('old events of the store are removed after the old jobs, and the worker emits an event only for the jobs', () =>
  withApp(31, async (app) => {
    const pruner = createPruner(app, 'first');
    await app.store.settle(ending(await startJob(app.store, 'old'), succeeded, NOW));
    await pruner.runOnce();
    expect(await app.store.events(0, 9)).not.toEqual([]);
    await pruner.runOnce();
    expect(await app.store.events(0, 9)).toEqual([]);
    expect(pruner.delayMs()).toBeLessThan(1000);
    // The next run removes the old figures.
    await pruner.runOnce();
    await pruner.runOnce();
    expect(pruner.delayMs()).toBeGreaterThan(1000);
    expect(pruner.events.map((event) => event.type)).toEqual(['jobs-pruned']);
  }));

test('the wait of the oldest job is sampled once a minute, only by the first worker', () =>
  withApp(0, async (app) => {
    await app.store.insert([jobSpec('waits')], NOW - 5000);
    let now = NOW;
    app.clock.now = () => now;
    const samples = async () =>
      (await app.store.series({ tier: 'minute', from: 0, to: NOW + DAY_MS }))
        .filter(({ oldestMs }) => oldestMs > 0)
        .map(({ at, oldestMs }) => [at - NOW, oldestMs]);
    await createPruner(app, 'second').runOnce();
    expect(await samples()).toEqual([]);
    const pruner = createPruner(app, 'first');
    for (const at of [0, 10_000, 59_000, 60_000, 70_000]) {
      now = NOW + at;
      await pruner.runOnce();
    }
    expect(await samples()).toEqual([
      [0, 5000],
      [60_000, 65_000],
    ]);
    await app.store.cancel(['waits'], now);
    now = NOW + 120_000;
    await pruner.runOnce();
    expect(await samples()).toHaveLength(2);
  }));

test('the lifeline of a killed worker is removed, and that of a live worker stays', () =>
  withApp(31, async (app) => {
    const [killed, alive] = await Promise.all(
      ['killed', 'alive'].map((id) => makeLifeline(app.stateDirectory, id)),
    );
    const path = ({ name }: Lifeline): string => join(app.stateDirectory.lifelines, name);
    for (const one of [killed, alive]) utimesSync(path(one!), 0, 0);
    closeSync(killed!.fd);
    await createPruner(app, 'second').runOnce();
    expect(existsSync(path(killed!))).toBe(true);
    await createPruner(app, 'first').runOnce();
    expect([existsSync(path(killed!)), existsSync(path(alive!))]).toEqual([false, true]);
    closeSync(alive!.fd);
  }));
