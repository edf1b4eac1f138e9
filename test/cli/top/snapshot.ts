import type { Snapshot } from '../../../src/actions/top.ts';
import type { ClaimedJob } from '../../../src/core/jobs/job.ts';
import type { JobWithReason } from '../../../src/core/jobs/waiting-reason.ts';
import { newJob } from '../../../src/store/new-rows.ts';
import { jobSpec, NOW } from '../../support/jobs.ts';

export { NOW };

type AnyJob = ClaimedJob & JobWithReason;

/** Returns a job that fits every list of the screen. */
export function jobOf(id: string, changes: Partial<AnyJob> = {}): AnyJob {
  const claimed = {
    claim: { job: 1, token: 1, attempt: 1 },
    ordinal: 1,
    endReason: null,
    otherHost: null,
    otherBoot: false,
  };
  return { ...newJob(jobSpec(id), NOW), waitingFor: 'ready', ...claimed, ...changes };
}

/** Returns a snapshot with one queue and no jobs, with the given changes. */
export function snapshotOf(changes: Partial<Snapshot> = {}): Snapshot {
  const jobs = { pending: 0, processing: 0, completed: 0, failed: 0, dead: 0, cancelled: 0 };
  const queue = {
    name: 'default',
    paused: false,
    paused_at: null,
    paused_by: null,
    concurrency: null,
    rate: null,
    oldest_waiting_at: null,
  };
  return {
    ...{ at: NOW, jobs, queues: [{ ...queue, jobs }], running: [], waiting: [], failures: [], workers: [] },
    finished: [],
    ...changes,
  };
}
