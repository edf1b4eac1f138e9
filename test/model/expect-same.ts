import { deepEqual, ok } from 'node:assert/strict';
import type { Store } from '../../src/store/store.ts';
import type { Model } from './model.ts';

/** Expects that the store and the model have the same jobs, claims and counts. */
export async function expectSame(model: Model, store: Store): Promise<void> {
  const jobs = [...model.jobs.values()].sort((a, b) => b.number - a.number);
  const listed = await store.list({}, { limit: 100 });
  deepEqual(
    listed.map((job) => [
      ...[job.id, job.queue, job.state, job.held, job.blocked, job.attempts, job.crashes],
      ...[job.dueAt, job.finishedAt, job.workerId],
    ]),
    jobs.map((job) => [
      ...[job.id, job.queue, job.state, job.phase === 'held', job.phase === 'blocked'],
      ...[job.attempts, job.crashes, job.dueAt, job.finishedAt, job.worker],
    ]),
  );
  for (const job of listed) ok((job.durationMs ?? 0) >= 0);

  const running = jobs.filter((job) => job.phase === 'running');
  const claims = await store.runningJobs();
  deepEqual(
    claims.map((job) => [job.id, job.claim.token, job.claim.attempt, job.endReason]).sort(),
    running
      .map((job) => [job.id, job.token, job.attempt!, model.attempts.get(job.attempt!)!.endReason])
      .sort(),
  );

  const counts = (await store.counts()).map((one) => `${one.queue} ${one.state} ${one.jobs}`);
  const counted = Map.groupBy(jobs, (job) => `${job.queue} ${job.state}`);
  deepEqual(counts.sort(), [...counted].map(([what, all]) => `${what} ${all.length}`).sort());
}
