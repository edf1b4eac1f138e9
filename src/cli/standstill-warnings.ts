import { whyQueuesStandStill } from '../actions/why-queues-stand-still.ts';
import type { WhereJobRuns } from '../actions/workers.ts';
import type { Context } from './command.ts';

const CHECK_MS = 5000;

/** Runs work that waits for these jobs. Meanwhile, warns if a queue is paused or no worker can take a job. */
export async function withStandstillWarnings<T>(
  context: Context,
  jobs: WhereJobRuns[],
  work: () => Promise<T>,
): Promise<T> {
  let warned: string[] = [];
  const check = async (): Promise<void> => {
    const problems = await whyQueuesStandStill(await context.app(), jobs);
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
