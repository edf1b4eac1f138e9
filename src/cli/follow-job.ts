import { type FollowOptions, follow } from '../actions/follow.ts';
import { getJob, jobObject } from '../actions/jobs.ts';
import { formatRelative } from '../core/duration.ts';
import { FINAL_STATES, type Job, type Stream } from '../core/job.ts';
import { exitCodeForJob } from '../core/outcome.ts';
import type { Attempt } from '../store/contract/jobs.ts';
import type { Context } from './command.ts';
import { Interrupted, watchUntilInterrupted } from './interrupt.ts';
import { exitNote } from './job-table.ts';
import { jsonText } from './layout.ts';
import { type OutputPrinter, outputPrinter } from './output-printer.ts';
import { withStandstillWarnings } from './standstill-warnings.ts';
import { printable } from './text.ts';

export interface FollowJobOptions extends FollowOptions {
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
  if (FINAL_STATES.includes(before.state)) return printOutput(context, id, options);
  return withStandstillWarnings(context, [before], () => printOutput(context, id, options));
}

/** Follows a new job to its end and returns its exit code. Ctrl-C stops following and leaves the job alone. */
export function followToEnd(context: Context, id: string, timeoutMs: number | null): Promise<number> {
  return watchUntilInterrupted(context, [id], async (signal) =>
    exitCodeForJob(await followJob(context, id, { ...FROM_THE_START, timeoutMs, signal })),
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
  if (io.json) io.out(`${jsonText(io, await jobObject(app, job))}\n`);
  return job;
}

export function describeNeverRan({ id, state, lastError }: Job): string {
  return `job '${id}' did not run: it is ${state}${lastError === null ? '' : ` (${lastError})`}`;
}

/** Describes in one line how an attempt ended and what follows. */
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
