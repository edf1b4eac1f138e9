import { interrupt } from '../../actions/jobs/signal-jobs.ts';
import { usageError } from '../../core/errors.ts';
import { FINAL_STATES, type Job } from '../../core/jobs/job.ts';
import { exitCodeForJob } from '../../core/rules/decide.ts';
import { pathWord } from '../../core/text/shell-quote.ts';
import { type Context, defineCommand, type Input, inGroup } from '../frame/command.ts';
import { Interrupted, noteJobsContinue, onInterrupt } from '../frame/interrupt.ts';
import { durationFlag } from '../frame/read-flags.ts';
import { FROM_THE_START, followJob } from '../print/follow-job.ts';
import { addJobs, checkGivenOnce, existingJobs, severalWordsHint, withFileArgument } from './enqueue.ts';

export default defineCommand({
  name: 'run',
  summary: 'Run a job, print its output and return its exit code',
  args: '(COMMAND | JSON | -- PROGRAM ARG…)',
  access: 'write',
  creates: true,
  details: async () => ({
    flags: {
      ...(await import('../frame/job-flags.ts')).jobFlags(),
      ...inGroup('Output', {
        raw: { help: 'do not escape control characters on a terminal' },
        'wait-timeout': { value: 'TIME', help: 'stop waiting after this time (the job continues)' },
      }),
    },
    examples: [
      "queuectl run 'make test'",
      'queuectl run --max-retries 1 --timeout 5m -- ./deploy staging',
      "queuectl run --queue gpu 'python train.py' >train.log",
    ],
    notes: [
      'queuectl adds the job to the queue and waits for it. A worker must be running.',
      'queuectl exits with the exit code of the job. It exits with 128+n if signal n killed the job, 130 if the job was cancelled, 124 if the wait timed out, and 125 if queuectl itself failed.',
      'Ctrl-C and SIGTERM are forwarded to the job, and the job is not retried. If it has not started yet, it is cancelled. If you press Ctrl-C again, queuectl exits at once and the job continues.',
    ],
  }),
  prints: { object: 'Job' },
  returnsJobExitCode: () => true,
  usageHint: (words, flags) => severalWordsHint('run', words, flags),
  async run(context, input) {
    refuseJobFile(input);
    checkGivenOnce('run', input);
    const timeoutMs = durationFlag(input, 'wait-timeout');
    const [job] = existingJobs((await addJobs(context, input, { maxJobs: 1 })).jobs);
    return followInForeground(context, job!, { raw: input.has('raw'), timeoutMs });
  },
});

/** Follows a job and returns its exit code. Forwards the first Ctrl-C or SIGTERM to the job. A second one stops following. */
async function followInForeground(
  context: Context,
  { id }: Job,
  options: { raw: boolean; timeoutMs: number | null },
): Promise<number> {
  const app = await context.app();
  const stop = new AbortController();
  let forwarded: NodeJS.Signals | null = null;
  let interruptedCode: number | null = null;
  const stopListening = onInterrupt((signal) => {
    if (forwarded !== null) return stop.abort(new Interrupted(signal));
    forwarded = signal;
    interrupt(app, id, signal).catch((error) => stop.abort(error));
  });
  context.io.note(`enqueued job ${id}`);
  try {
    const job = await followJob(context, id, {
      ...FROM_THE_START,
      ...options,
      signal: stop.signal,
      async onAttemptOver(attempt, current) {
        // An interrupted command must not be retried, so a job that has attempts left is cancelled.
        if (forwarded === null || FINAL_STATES.includes(current.state)) return;
        interruptedCode = attempt.exitCode;
        await interrupt(app, id, forwarded);
      },
    });
    return job.state === 'cancelled' ? (interruptedCode ?? exitCodeForJob(job)) : exitCodeForJob(job);
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    await noteJobsContinue(context, [id]);
    return error.exitCode;
  } finally {
    stopListening();
  }
}

/** Throws if the input names a file of jobs, for a command that runs one job. */
function refuseJobFile(input: Input): void {
  const file = withFileArgument(input).one('file');
  if (file !== undefined)
    throw usageError(
      'run takes one job, not a file of jobs',
      `to enqueue the file and wait: queuectl enqueue --wait --file ${pathWord(file)}`,
    );
}
