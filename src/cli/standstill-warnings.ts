import { describeLateHost, lateHostsOfJobs } from '../actions/host-heartbeats.ts';
import { whyQueuesStandStill } from '../actions/why-queues-stand-still.ts';
import type { Job } from '../core/job.ts';
import type { Context } from './command.ts';

const CHECK_MS = 5000;

/** Runs work that waits for these jobs. Meanwhile, warns if a queue is paused, no worker can take a job, or a host does not answer. */
export async function withStandstillWarnings<T>(
  context: Context,
  jobs: Job[],
  work: () => Promise<T>,
): Promise<T> {
  let warned: string[] = [];
  const check = async (): Promise<void> => {
    const app = await context.app();
    const ids = jobs.map((job) => job.id);
    const problems = [
      ...(await whyQueuesStandStill(app, jobs)),
      ...(await lateHostsOfJobs(app, ids)).map(describeLateHost),
    ];
    for (const problem of problems) if (!warned.includes(problem)) context.io.warn(problem);
    warned = problems;
  };
  await check();
  // A failed check must not end the work.
  const timer = setInterval(() => void check().catch(() => {}), CHECK_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}
