import { resolve } from 'node:path';
import { type App, actorOf, closeApp, openApp } from '../../actions/app.ts';
import { type Copy, type CopySide, copyStore } from '../../actions/transfer/copy.ts';
import { locationName } from '../../actions/transfer/migrate.ts';
import { QueueError, usageError } from '../../core/errors.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { countOf } from '../../core/text/words.ts';
import { isServerUrl, refuseMissingDirectory, storeLocation } from '../../store/location.ts';
import { type Context, defineCommand } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { printResult } from '../print/layout.ts';
import { startProgress } from '../print/progress.ts';

export default defineCommand({
  name: 'db copy',
  summary: 'Copy the queue to another file or PostgreSQL database',
  flags: {
    to: { value: 'LOCATION', help: 'empty target: file or PostgreSQL URL (default: $QUEUECTL_COPY_TO)' },
    pause: { help: 'pause all queues and wait for the running jobs instead of refusing while workers run' },
  },
  examples: [
    'queuectl db copy --to postgres://app@db.example.com/app',
    'queuectl db copy --pause --to postgres://app@db.example.com/app',
    'queuectl db copy --db postgres://app@db.example.com/app --to /var/lib/queue.db',
  ],
  notes: [
    'The command copies all jobs, attempts, output, queues, schedules, settings, events and statistics. Ids and numbers stay the same. The copy is saved only if it has as many rows of each kind as the original. Nothing is removed from the original. Of long output in files on other hosts, only the beginning and the end are copied.',
    'The target must be empty or missing. If the command is interrupted, the target stays empty. Run the command again to start again from the beginning.',
    'Without --pause, the command fails while workers run. With --pause, it pauses all queues and copies them when the running jobs have ended. The original stays paused, so that no job runs in both queues. The queues of the copy are not paused.',
    'Do not enqueue jobs in the original during the copy, because jobs that are added later are not copied. Do not write a password into --to, because other users can see it. Use ~/.pgpass, PGPASSWORD or QUEUECTL_COPY_TO.',
  ],
  async run(context, input) {
    const { io } = context;
    const flag = input.one('to');
    const given = flag ?? context.environment.QUEUECTL_COPY_TO;
    if (!given)
      throw usageError('db copy requires a target', 'usage: queuectl db copy --to FILE or --to postgres://…');
    const progress = startProgress(io);
    let target: App | null = null;
    try {
      const source = { app: await context.app({ ifMissing: 'refuse' }), name: await context.storeName() };
      const copy = await copyStore(source, {
        pause: input.has('pause'),
        onProgress: progress.update,
        onPause: () => io.note('pausing all queues; running jobs continue', 'always'),
        async openTarget() {
          const opened = await openTarget(context, given, flag === undefined ? 'QUEUECTL_COPY_TO' : '--to');
          target = opened.app;
          return opened;
        },
      });
      progress.end();
      report(io, copy);
    } finally {
      progress.end();
      if (target !== null) await closeApp(target);
    }
    return 0;
  },
});

/** Prints the result and what to do next. */
function report(io: Io, copy: Copy): void {
  const { from, to, jobs, lost_jobs, missing_outputs, paused_queues } = copy;
  const note = (text: string): void => io.note(text, 'always');
  printResult(io, copy, `copied ${countOf(jobs)} to ${to}`, jobs);
  if (lost_jobs > 0)
    note(`${countOf(lost_jobs)} had no worker and will run again, except at-most-once jobs, which are dead`);
  if (missing_outputs > 0)
    note(
      `the output files of ${countOf(missing_outputs, 'attempt')} are not on this host and were not copied`,
    );
  // An absolute path names the same store in any directory.
  const next = `set QUEUECTL_DB=${shellWord(isServerUrl(to) ? to : resolve(to))} and start workers there`;
  note(
    paused_queues > 0
      ? `the queues of ${from} stay paused. Next: stop its workers, ${next}. To go back instead, resume the queues of ${from}: queuectl queue resume --all`
      : `next: ${next}. Start no workers on ${from}, because its jobs would run twice`,
  );
}

/** Opens the target that `givenBy` names, and creates it if it is missing. */
async function openTarget(context: Context, given: string, givenBy: string): Promise<CopySide> {
  const { environment, anyOwner, storeTimeoutMs } = context;
  try {
    const location = storeLocation(given, {});
    refuseMissingDirectory(location, givenBy);
    const name = await locationName(location, environment);
    const options = { access: 'write', anyOwner, storeTimeoutMs } as const;
    return { app: await openApp(location, actorOf(environment), options), name };
  } catch (error) {
    if (!(error instanceof QueueError && /--db|queuectl /i.test(error.hint ?? ''))) throw error;
    // A hint that names --db or a command is about the queue that --db chooses.
    const hint = `check the target of the copy, which is given by ${givenBy}`;
    throw new QueueError(error.code, error.message, hint, { cause: error });
  }
}
