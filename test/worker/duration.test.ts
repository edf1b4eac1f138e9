import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import { runAttempt } from '../../src/worker/attempt.ts';
import { claimOne, jobSpec, NOW, newWorker } from '../support/jobs.ts';
import { lines, until } from '../support/queuectl.ts';
import { inTempDir } from '../support/temp-dir.ts';
import { attemptContext } from '../support/worker.ts';

const HOUR_MS = 3_600_000;
/** The age of a process may be off by this much, because it is measured in hundredths of a second. The command runs longer than this. */
const AGE_ERROR_MS = 50;
const COMMAND = 'echo >>begun; until test -e go; do sleep 0.02; done';

/**
 * Runs a command, moves the wall clock by `hours` while it runs, and passes the durations in the store to `check`. `maxMs` is
 * the time from the start of the attempt to the check.
 */
function withMovedClock(hours: number, adopt: boolean, check: (durations: number[], maxMs: number) => void) {
  return inTempDir(async (directory) => {
    const opened = await openSqlite(join(directory, 'queue.db'));
    const { store } = opened;
    let clockStepMs = 0;
    const clock = { now: () => NOW + clockStepMs, monotonic: () => performance.now() };
    const context = attemptContext({ ...opened, clock, random: () => 0, newId: String });
    try {
      await store.register(newWorker('w1'));
      await store.insert([jobSpec('job', { command: COMMAND, cwd: directory })], NOW);
      const job = await claimOne(store);
      const start = performance.now();
      const original = runAttempt(context, job, null);
      await until(() => lines(join(directory, 'begun')).length > 0, 'the command runs');
      await until(() => performance.now() - start > AGE_ERROR_MS, 'the command has run for a while');
      const adoption = { isElsewhere: false, stopping: false };
      const adopted = adopt ? (await store.adopt(job.claim, 'w1'))! : null;
      const { done } = adopted === null ? original : runAttempt(context, adopted, adoption);
      clockStepMs = hours * HOUR_MS;
      writeFileSync(join(directory, 'go'), '');
      const { settlement } = (await done)!;
      expect(await store.settle(settlement)).toBe('applied');
      await original.done;
      const [attempt] = await store.attempts('job');
      const [finished] = await store.finishedAttempts(1);
      const [total] = await store.totals();
      const durations = [(await store.get('job'))!.durationMs!, attempt!.durationMs!];
      check([...durations, finished!.runMs!, total!.run.sumMs], Math.ceil(performance.now() - start));
    } finally {
      writeFileSync(join(directory, 'go'), '');
      await store.close();
    }
  });
}

for (const hours of [1, -1])
  for (const adopt of [false, true])
    test(`moving the wall clock by ${hours}h during ${adopt ? 'an adopted' : 'an'} attempt does not change its duration`, () =>
      withMovedClock(hours, adopt, (durations, maxMs) => {
        expect(new Set(durations).size).toBe(1);
        expect(durations[0]).toBeGreaterThan(0);
        expect(durations[0]).toBeLessThanOrEqual(maxMs + AGE_ERROR_MS);
      }));
