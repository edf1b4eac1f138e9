import { resolve } from 'node:path';
import { actorOf, closeApp, type OpenedApp, openApp } from '../../actions/app.ts';
import { type Copy, copyStore } from '../../actions/transfer/copy.ts';
import { locationName } from '../../actions/transfer/migrate.ts';
import { QueueError, usageError } from '../../core/errors.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { countOf } from '../../core/text/words.ts';
import { isServerUrl, refuseMissingDirectory, storeLocation } from '../../store/location.ts';
import { type Context, defineCommand, type Input } from '../frame/command.ts';
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
    'The command copies all jobs, attempts, output, queues, schedules, settings, events and statistics. Ids and numbers stay the same. The copy is saved only if it has as many rows of each kind as the original. Nothing is removed from the original. Of long output in files on other hosts, only the beginning and the end are copied, and the command prints where the files stay.',
    'The target must be empty or missing. If the command is interrupted, the target stays empty. Run the command again to start again from the beginning.',
    'Without --pause, the command fails while workers run. With --pause, it pauses all queues and copies them when the running jobs have ended. The original stays paused, so that no job runs in both queues. The queues of the copy are not paused.',
    'Do not enqueue jobs in the original during the copy, because jobs that are added later are not copied. Do not write a password into --to, because other users can see it. Use ~/.pgpass, PGPASSWORD or QUEUECTL_COPY_TO.',
  ],
  async run(context, input) {
    const chosen = targetOf(context, input);
    const { io } = context;
    const progress = startProgress(io);
    let target: OpenedApp | null = null;
    try {
      const source = {
        app: await context.app({ ifMissing: 'refuse' }),
        name: await context.storeName(),
        command: await storeCommand(context, input),
      };
      const copy = await copyStore(source, {
        pause: input.has('pause'),
        onProgress: progress.update,
        onStart: () => noteStart(context, target, input.has('pause')),
        async openTarget() {
          const opened = await openTarget(context, chosen);
          target = opened.app;
          return opened;
        },
      });
      progress.end();
      report(io, copy, source.command);
    } finally {
      progress.end();
      if (target !== null) await closeApp(target);
    }
    return 0;
  },
});

/** Prints what is about to happen. An empty target may have been left by a copy that was interrupted. */
function noteStart({ io }: Context, target: OpenedApp | null, pause: boolean): void {
  if (target?.created === false)
    io.note('the target exists and is empty, so the copy starts from the beginning', 'always');
  if (pause) io.note('pausing all queues; running jobs continue', 'always');
}

/** Prints the result and what to do next. `command` is the start of a command for the original. */
function report(io: Io, copy: Copy, command: string): void {
  const { from, to, jobs, was_complete } = copy;
  const note = (text: string): void => io.note(text, 'always');
  const sentence = was_complete
    ? `${to} already has a complete copy of this queue; nothing to do`
    : `copied ${countOf(jobs)} to ${to}`;
  printResult(io, copy, sentence, jobs);
  if (was_complete && !io.tty) note(sentence);
  if (copy.lost_jobs > 0)
    note(
      `${countOf(copy.lost_jobs)} had no worker and will run again, except at-most-once jobs, which are dead`,
    );
  if (copy.missing_outputs > 0)
    note(
      `the output files of ${countOf(copy.missing_outputs, 'attempt')} are not on this host and were not copied`,
    );
  for (const { host, directory, attempts } of copy.partial_outputs) {
    const where = host === null ? '' : `; the files stay in ${directory} on host ${host}`;
    note(
      `only the beginning and the end of the output of ${countOf(attempts, 'attempt')} were copied${where}`,
    );
  }
  const next = `set QUEUECTL_DB=${storeWord(to)} and start workers there`;
  note(
    copy.paused_queues > 0
      ? `the queues of ${from} stay paused. Next: stop its workers, ${next}. To go back instead: ${command} queue resume --all`
      : `next: ${next}. Start no workers on ${from}, because its jobs would run twice`,
  );
}

/** Returns the location of the target, and the name of the flag or of the variable that chose it. */
function targetOf({ environment }: Context, input: Input) {
  const flag = input.one('to');
  const given = flag ?? environment.QUEUECTL_COPY_TO;
  if (!given)
    throw usageError('db copy requires a target', 'usage: queuectl db copy --to FILE or --to postgres://…');
  const givenBy = flag === undefined ? 'QUEUECTL_COPY_TO' : '--to';
  try {
    const location = storeLocation(given, {});
    refuseMissingDirectory(location, givenBy);
    return { location, givenBy };
  } catch (error) {
    throw aboutTarget(error, givenBy, null);
  }
}

/** Opens the target, and creates it if it is missing. `name` names it in messages. */
async function openTarget(context: Context, { location, givenBy }: ReturnType<typeof targetOf>) {
  const { environment, anyOwner, storeTimeoutMs } = context;
  let name: string | null = null;
  try {
    name = await locationName(location, environment);
    const app: OpenedApp = await openApp(location, actorOf(environment), {
      access: 'write',
      anyOwner,
      storeTimeoutMs,
    });
    return { app, name };
  } catch (error) {
    throw aboutTarget(error, givenBy, name);
  }
}

/**
 * Returns the error with a hint about the target. The hints of a store are about the one that --db chooses, because other commands use
 * only one. `name` is null if the target has no valid name.
 */
function aboutTarget(error: unknown, givenBy: string, name: string | null): unknown {
  if (!(error instanceof QueueError) || error.hint === null) return error;
  const { hint: given } = error;
  const isCommand = given.includes('queuectl --db ');
  const hint = (
    isCommand ? given.replaceAll('queuectl --db ', 'queuectl db copy --to ').replaceAll(' …', '') : given
  )
    .replace('--db, QUEUECTL_DB or QUEUECTL_HOME', givenBy)
    .replaceAll('--db', '--to')
    .replaceAll(/queuectl (db (check|migrate|repair|renew)|doctor|restore( FILE)?)/g, (command) =>
      name === null ? command : `${command} --db ${shellWord(name)}`,
    );
  return new QueueError(error.code, error.message, hint, { cause: error });
}

/**
 * Returns the start of a command for the same store, for hints: `queuectl`, with --db if this command has it. It contains no password,
 * and leads to the same store from any directory.
 */
async function storeCommand(context: Context, input: Input): Promise<string> {
  if (input.one('db') === undefined) return 'queuectl';
  return `queuectl --db ${storeWord(await context.storeName())}`;
}

/** Returns the name of a store as one word for a shell. A path becomes absolute, so that it names the same store in any directory. */
function storeWord(name: string): string {
  return shellWord(isServerUrl(name) ? name : resolve(name));
}
