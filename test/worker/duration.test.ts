import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveSettings } from '../../src/core/stored-settings.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { runAttempt } from '../../src/worker/attempt.ts';
import { claimOne, jobSpec, NOW, newWorker } from '../support/jobs.ts';
import { lines, until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';

const HOUR = 3_600_000;
/** Process ages are counted in hundredths of a second. */
const LONG_ENOUGH_MS = 50;
const COMMAND = 'echo >>begun; until test -e go; do sleep 0.02; done';

/** Runs a command under a wall clock that is set while it runs. Returns what the store says of it. */
function underClock(hours: number, adopt: boolean, check: (told: number[], mostMs: number) => void) {
  return inTempDir(async (directory) => {
    const { store, stateDirectory } = await openSqlite(join(directory, 'queue.db'));
    let step = 0;
    const clock = { now: () => NOW + step, monotonic: () => performance.now() };
    const context = {
      app: { store, stateDirectory, clock, random: () => 0, newId: String },
      ...{ emit: () => {}, lifeline: null, user: { umask: 0o077, openFiles: null } },
      ...{ settings: resolveSettings(new Map()), order: null, signalledAt: Number.NEGATIVE_INFINITY },
    };
    try {
      await store.register(newWorker('w1'));
      await store.insert([jobSpec('job', { command: COMMAND, cwd: directory })], NOW);
      const job = await claimOne(store);
      const start = performance.now();
      const own = runAttempt(context, job, null);
      await until(() => lines(join(directory, 'begun')).length > 0, 'the command runs');
      await until(() => performance.now() - start > LONG_ENOUGH_MS, 'it has run for a while');
      const mine = adopt ? (await store.adopt(job.claim, 'w1'))! : null;
      const { done } =
        mine === null ? own : runAttempt(context, mine, { rebooted: false, stopping: false, seal: null });
      step = hours * HOUR;
      writeFileSync(join(directory, 'go'), '');
      const { settlement } = (await done)!;
      expect(await store.settle(settlement)).toBe('applied');
      await own.done;
      const [attempt] = await store.attempts('job');
      const [finished] = await store.finished(1);
      const [total] = await store.totals();
      const told = [(await store.get('job'))!.durationMs!, attempt!.durationMs!];
      check([...told, finished!.runMs!, total!.run.sumMs], Math.ceil(performance.now() - start));
    } finally {
      writeFileSync(join(directory, 'go'), '');
      await store.close();
    }
  });
}

for (const hours of [1, -1])
  for (const adopt of [false, true])
    test(`a clock set by ${hours} h during ${adopt ? 'an adopted' : 'an'} attempt does not change its duration`, () =>
      underClock(hours, adopt, (told, mostMs) => {
        expect(new Set(told).size).toBe(1);
        expect(told[0]).toBeGreaterThan(0);
        expect(told[0]).toBeLessThanOrEqual(mostMs + LONG_ENOUGH_MS);
      }));
