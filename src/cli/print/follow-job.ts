import { getJob, jobObject } from '../../actions/jobs/jobs.ts';
import { waitFor } from '../../actions/jobs/wait.ts';
import { whyQueuesStandStill } from '../../actions/jobs/waiting-reasons.ts';
import { follow, type OutputFollowOptions } from '../../actions/output/logs.ts';
import { describeLateHost, lateHostsOfJobs } from '../../actions/workers/host-heartbeats.ts';
import { FINAL_STATES, type Job, type Stream } from '../../core/jobs/job.ts';
import { exitCodeForJob } from '../../core/rules/decide.ts';
import { formatRelative } from '../../core/time/duration.ts';
import type { Attempt } from '../../store/contract/jobs.ts';
import type { Context } from '../frame/command.ts';
import { Interrupted, noteJobsContinue, untilInterrupted } from '../frame/interrupt.ts';
import { exitNote } from './job-table.ts';
import { printJson } from './layout.ts';
import { type OutputPrinter, outputPrinter } from './output-printer.ts';
import { printable } from './text.ts';

export interface FollowJobOptions extends OutputFollowOptions {
  raw: boolean;
  /** Is called at the end of each attempt, before the end is printed. */
  onAttemptOver?(attempt: Attempt, job: Job): Promise<void>;
}

/** The options that follow a new job from the start of its output. */
export const FROM_THE_START = { ordinal: null, lines: null, only: null, raw: false };

/** Prints the output of a job until the job, or the chosen attempt, ends. Returns the job at that time. */
export async function followJob(context: Context, id: string, options: FollowJobOptions): Promise<Job> {
  const app = await context.app();
  const before = await getJob(app, id);
  const unfinished = FINAL_STATES.includes(before.state) ? [] : [before];
  return withStandstillWarnings(context, unfinished, () => printOutput(context, id, options));
}

/** Follows a new job to its end and returns its exit code. Ctrl-C stops following and leaves the job alone. */
export function followToEnd(context: Context, id: string, timeoutMs: number | null): Promise<number> {
  return untilInterrupted(
    async (signal) => exitCodeForJob(await followJob(context, id, { ...FROM_THE_START, timeoutMs, signal })),
    () => noteJobsContinue(context, [id]),
  );
}

async function printOutput(context: Context, id: string, options: FollowJobOptions): Promise<Job> {
  const { io } = context;
  const app = await context.app();
  const split = (await getJob(app, id)).splitOutput;
  const printerOf = (stream: Stream): OutputPrinter => {
    if (io.json) return jsonPrinter(context, id, split ? { stream } : {});
    // A single stream is the result, so it goes to stdout.
    return outputPrinter(io, options.raw, options.only === null ? stream : 'stdout');
  };
  const printers = { stdout: printerOf('stdout'), stderr: printerOf('stderr') };
  let ran = false;
  try {
    for await (const seen of follow(app, id, options)) {
      ran = true;
      if (seen.kind === 'output') {
        printers[seen.stream].print(seen.data, seen.attempt.ordinal);
        continue;
      }
      for (const printer of Object.values(printers)) printer.end();
      await options.onAttemptOver?.(seen.attempt, seen.job);
      if (seen.attempt.why === 'spawn-error')
        io.warn(`attempt ${seen.attempt.ordinal} could not start: ${printable(seen.attempt.error ?? '')}`);
      io.note(describeAttemptEnd(seen.attempt, await getJob(app, id), app.clock.now()));
    }
  } catch (error) {
    for (const printer of Object.values(printers)) {
      // After Ctrl-C, the message that follows starts a new line itself.
      if (!(error instanceof Interrupted)) printer.end();
      printer.reset();
    }
    throw error;
  }
  const job = await getJob(app, id);
  if (!ran && job.startedAt === null) io.note(describeNeverRan(job));
  if (io.json) printJson(io, await jobObject(app, job));
  return job;
}

export function describeNeverRan({ id, state, lastError }: Job): string {
  return `job '${id}' did not run: it is ${state}${lastError === null ? '' : ` (${lastError})`}`;
}

export function describeAttemptEnd(attempt: Attempt, job: Job, now: number): string {
  const ending = attempt.exitCode === null ? ` (${attempt.why})` : exitNote(attempt);
  const next = job.delayed && job.dueAt! > now ? `, next attempt ${formatRelative(job.dueAt!, now)}` : '';
  return `attempt ${attempt.ordinal} ended${ending}: job ${job.id} is ${job.state}${next}`;
}

/** Prints a JSON line for each piece of output. A character split between two pieces is printed with the second. */
function jsonPrinter({ io }: Context, id: string, streamField: { stream?: Stream }): OutputPrinter {
  let decoder = new TextDecoder();
  let attempt = 1;
  const line = (output: string): void => {
    if (output !== '') io.out(`${JSON.stringify({ id, attempt, ...streamField, output })}\n`);
  };
  return {
    print(data, ordinal = 1) {
      attempt = ordinal;
      line(decoder.decode(data, { stream: true }));
    },
    end() {
      line(decoder.decode());
      decoder = new TextDecoder();
    },
    reset() {},
  };
}

/** Waits for all jobs, or with `any` for the first one that ends, and passes those that ended to `print`. Returns their first exit code that is not 0, or else 0. */
export function waitForJobs(
  context: Context,
  jobs: Job[],
  options: { timeoutMs: number | null; any?: boolean; onEnd(job: Job): void },
  print: (ended: Job[]) => Promise<void>,
): Promise<number> {
  const ids = [...new Set(jobs.map((job) => job.id))];
  const unfinished = jobs.filter((job) => !FINAL_STATES.includes(job.state));
  const onEnd = (job: Job): void => {
    options.onEnd(job);
    // Without an exit code, only the error describes what happened.
    if (job.state === 'dead' && job.exitCode === null)
      context.io.warn(`job ${job.id}: ${printable(job.lastError ?? 'unknown error')}`);
  };
  const wait = async (signal: AbortSignal): Promise<number> => {
    const ended = await withStandstillWarnings(context, unfinished, async () =>
      waitFor(await context.app(), ids, { ...options, onEnd, signal }),
    );
    await print(ended);
    return ended.map(exitCodeForJob).find((code) => code !== 0) ?? 0;
  };
  return untilInterrupted(wait, () => noteJobsContinue(context, ids));
}

export function describeJobEnd(job: Job): string {
  return `job ${job.id} is ${job.state}${exitNote(job)}`;
}

const CHECK_MS = 5000;

/** Runs work that waits for these jobs. Meanwhile, warns if a queue is paused, no worker can take a job, or a host does not answer. */
async function withStandstillWarnings<T>(context: Context, jobs: Job[], work: () => Promise<T>): Promise<T> {
  if (jobs.length === 0) return work();
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
