import { waitFor } from '../actions/wait.ts';
import { FINAL_STATES, type Job } from '../core/job.ts';
import { exitCodeForJob } from '../core/outcome.ts';
import type { Context } from './command.ts';
import { watchUntilInterrupted } from './interrupt.ts';
import { exitNote } from './job-table.ts';
import { withStandstillWarnings } from './standstill-warnings.ts';
import { printable } from './text.ts';

export interface WaitForJobsOptions {
  timeoutMs: number | null;
  /** True to wait only until the first job has ended. */
  any?: boolean;
  onEnd(job: Job): void;
}

/** Waits for jobs and passes those that ended to `print`. Returns their first exit code that is not 0, or else 0. */
export function waitForJobs(
  context: Context,
  jobs: Job[],
  options: WaitForJobsOptions,
  print: (ended: Job[]) => Promise<void>,
): Promise<number> {
  const ids = [...new Set(jobs.map((job) => job.id))];
  const unfinished = jobs.filter((job) => !FINAL_STATES.includes(job.state));
  return watchUntilInterrupted(context, ids, async (signal) => {
    const onEnd = (job: Job): void => {
      options.onEnd(job);
      // Without an exit code, only the error describes what happened.
      if (job.state === 'dead' && job.exitCode === null)
        context.io.warn(`job ${job.id}: ${printable(job.lastError ?? 'unknown error')}`);
    };
    const wait = async (): Promise<Job[]> => waitFor(await context.app(), ids, { ...options, onEnd, signal });
    const ended = await (unfinished.length === 0
      ? wait()
      : withStandstillWarnings(context, unfinished, wait));
    await print(ended);
    return ended.map(exitCodeForJob).find((code) => code !== 0) ?? 0;
  });
}

export function describeJobEnd(job: Job): string {
  return `job ${job.id} is ${job.state}${exitNote(job)}`;
}
