import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { App } from '../../src/actions/app.ts';
import { QueueError } from '../../src/core/errors.ts';
import { pause } from '../../src/core/time/clock.ts';
import { thisHost } from '../../src/state/host.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { runAttempt } from '../../src/worker/attempt.ts';
import { claimOne, jobSpec, newWorker } from '../support/jobs.ts';
import { lines, until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';
import { attemptContext, withWorker } from '../support/worker.ts';

const answerLost = (): never => {
  throw new QueueError('store-busy', 'the answer got lost');
};

/** Opens a store that commits some calls and then throws, as if the connection was cut before the answer. */
async function openLossy(directory: string, change: (store: Store) => Partial<Store>) {
  const opened = await openSqlite(join(directory, 'queue.db'));
  const { store } = opened;
  const lossy: Store = { ...store, epoch: store.epoch, origin: store.origin, ...change(store) };
  const app: App = { ...opened, store: lossy, random: () => 0, newId: String };
  return { app, store };
}

/** Loses the answer to every third claim that takes a job, and counts these claims. */
function losingClaims(lost: { count: number }) {
  let taken = 0;
  return (store: Store): Partial<Store> => ({
    async claim(request, now) {
      const result = await store.claim(request, now);
      if (result.jobs.length === 0 || ++taken % 3 !== 1) return result;
      lost.count++;
      return answerLost();
    },
  });
}

test('a worker runs each job once, although the answers to some of its claims get lost', () =>
  inTempDir(async (directory) => {
    const lost = { count: 0 };
    const { app, store } = await openLossy(directory, losingClaims(lost));
    const names = Array.from({ length: 12 }, (_, i) => `job${i}`);
    await store.insert(
      names.map((id) => jobSpec(id, { command: `echo ${id} >>log`, cwd: directory })),
      Date.now(),
    );
    await withWorker(app, async () => {
      const completed = async () => (await store.counts()).find((one) => one.state === 'completed')?.jobs;
      await until(async () => (await completed()) === names.length, 'all jobs have completed');
    });
    expect(lost.count).toBeGreaterThan(2);
    expect(lines(join(directory, 'log')).toSorted()).toEqual(names.toSorted());
    for (const id of names) expect(await store.attempts(id)).toHaveLength(1);
    await store.close();
  }));

test('a worker whose results cannot be stored makes longer and longer pauses', () =>
  inTempDir(async (directory) => {
    let tries = 0;
    let isFull = true;
    const { app, store } = await openLossy(directory, (real) => ({
      async claim(request, now) {
        if (request.settlements.length === 0 || !isFull) return real.claim(request, now);
        tries++;
        throw new QueueError('disk-full', 'the disk is full');
      },
    }));
    await store.insert([jobSpec('a', { command: 'true', cwd: directory })], Date.now());
    await withWorker(app, async () => {
      await until(() => tries > 0, 'the first try');
      await pause(2000);
      expect(tries).toBeLessThan(15);
      isFull = false;
      await until(async () => (await store.get('a'))?.state === 'completed', 'the result is stored');
    });
    await store.close();
  }));

test('a worker that is stopped puts back a job whose claim it has not started', () =>
  inTempDir(async (directory) => {
    let stop = (): void => {};
    const { app, store } = await openLossy(directory, (real) => ({
      async claim(request, now) {
        const result = await real.claim(request, now);
        if (result.jobs.length === 0) return result;
        stop();
        return answerLost();
      },
    }));
    await withWorker(app, async (worker) => {
      stop = () => worker.stop('drain', 'the test');
      await store.insert([jobSpec('a', { command: 'echo ran >>log', cwd: directory })], Date.now());
      app.wakeups.wake();
      await worker.done;
    });
    expect(await store.get('a')).toMatchObject({ state: 'pending', attempts: 0, crashes: 0 });
    expect(await store.attempts('a')).toEqual([]);
    expect(lines(join(directory, 'log'))).toEqual([]);
    await store.close();
  }));

test('a worker continues an adoption whose answer got lost', () =>
  inTempDir(async (directory) => {
    let lost = 0;
    const { app, store } = await openLossy(directory, (real) => ({
      async adopt(claim, workerId) {
        const job = await real.adopt(claim, workerId);
        if (job === null || lost++ > 0) return job;
        return answerLost();
      },
    }));
    // A pid above the limit of the system belongs to no process, so this worker is gone.
    const host = thisHost(app.stateDirectory);
    await store.register(newWorker('gone', { host, pid: 2 ** 30 }));
    const command = 'echo begun >>log; until test -e go; do sleep 0.02; done; echo over >>log; exit 7';
    await store.insert([jobSpec('a', { command, cwd: directory, maxRetries: 1 })], Date.now());
    const job = await claimOne(store, 'gone', Date.now());
    const original = runAttempt(attemptContext(app), job, null);
    const log = join(directory, 'log');
    await until(() => lines(log).length > 0, 'the command runs');
    await withWorker(app, async (_, events) => {
      await until(() => events.some((one) => one.type === 'attempt-adopted'), 'the job is adopted');
      expect(lost).toBe(1);
      writeFileSync(join(directory, 'go'), '');
      await until(async () => (await store.get('a'))?.state === 'dead', 'the job is settled');
    });
    await original.done;
    expect(await store.get('a')).toMatchObject({ exitCode: 7 });
    expect(await store.attempts('a')).toHaveLength(1);
    expect(lines(log)).toEqual(['begun', 'over']);
    await store.close();
  }));
