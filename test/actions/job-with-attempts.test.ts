import { expect, test } from 'bun:test';
import type { App } from '../../src/actions/app.ts';
import { getJobWithAttempts } from '../../src/actions/jobs/jobs.ts';
import { systemClock } from '../../src/core/time/clock.ts';
import { ending, NOW, startJob, succeeded } from '../support/jobs.ts';
import { withSqlite } from '../support/sqlite.ts';

test('a job that ends between the reads is shown as ended, with its ended attempt', () =>
  withSqlite(async (store) => {
    const claimed = await startJob(store, 'a');
    let settled = false;
    const attempts: typeof store.attempts = async (id) => {
      const before = await store.attempts(id);
      if (!settled) await store.settle(ending(claimed, succeeded, NOW));
      settled = true;
      return before;
    };
    const app = { store: { ...store, attempts }, clock: systemClock } as unknown as App;
    const shown = await getJobWithAttempts(app, 'a');
    expect(shown.job.state).toBe('completed');
    expect(shown.attempts.map((attempt) => attempt.finishedAt)).toEqual([NOW]);
  }));
