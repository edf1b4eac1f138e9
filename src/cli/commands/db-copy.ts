import { closeApp, type OpenedApp } from '../../actions/app.ts';
import { type Copy, copyStore } from '../../actions/copy.ts';
import { countOf } from '../../core/words.ts';
import { type Context, defineCommand } from '../command.ts';
import { copyTargetOf, openCopyTarget } from '../copy-target.ts';
import type { Io } from '../io.ts';
import { printResult } from '../print-result.ts';
import { startProgress } from '../progress.ts';
import { storeCommand, storeWord } from '../store-command.ts';

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
    'The command copies all jobs, attempts, output, queues, schedules, settings, events and statistics. Ids and numbers stay the same. The copy is compared with the original by counts and checksums, and is saved only if they are equal. Nothing is removed from the original. Of long output in files on other hosts, only the beginning and the end are copied, and the command prints where the files stay.',
    'The target must be empty or missing. If the command is interrupted, the target stays empty. Run the command again to start again from the beginning.',
    'Without --pause, the command fails while workers run. With --pause, it pauses all queues and copies them when the running jobs have ended. The original stays paused, so that no job runs in both queues. The queues of the copy are not paused.',
    'Do not enqueue jobs in the original during the copy, because jobs that are added later are not copied. Do not write a password into --to, because other users can see it. Use ~/.pgpass, PGPASSWORD or QUEUECTL_COPY_TO.',
  ],
  async run(context, input) {
    const chosen = copyTargetOf(context, input);
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
          const opened = await openCopyTarget(context, chosen);
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

/** Says what is about to happen. An empty target may have been left by a copy that was interrupted. */
function noteStart({ io }: Context, target: OpenedApp | null, pause: boolean): void {
  if (target?.created === false)
    io.note('the target exists and is empty, so the copy starts from the beginning', 'always');
  if (pause) io.note('pausing all queues; running jobs continue', 'always');
}

/** Prints the result and what to do next. `command` is the start of a command for the original. */
function report(io: Io, copy: Copy, command: string): void {
  const { from, to, jobs, was_complete } = copy;
  const sentence = was_complete
    ? `${to} already has a complete copy of this queue; nothing to do`
    : `copied ${countOf(jobs)} to ${to} and verified the copy`;
  printResult(io, copy, sentence, jobs);
  if (was_complete && !io.tty) io.note(sentence, 'always');
  if (copy.lost_jobs > 0)
    io.note(
      `${countOf(copy.lost_jobs)} had no worker and will run again, except at-most-once jobs, which are dead`,
      'always',
    );
  if (copy.missing_outputs > 0)
    io.note(
      `the output files of ${countOf(copy.missing_outputs, 'attempt')} are not on this host and were not copied`,
      'always',
    );
  for (const { host, directory, attempts } of copy.partial_outputs) {
    const where = host === null ? '' : `; the files stay in ${directory} on host ${host}`;
    io.note(
      `only the beginning and the end of the output of ${countOf(attempts, 'attempt')} were copied${where}`,
      'always',
    );
  }
  const next = `set QUEUECTL_DB=${storeWord(to)} and start workers there`;
  io.note(
    copy.paused_queues > 0
      ? `the queues of ${from} stay paused. Next: stop its workers, ${next}. To go back instead: ${command} queue resume --all`
      : `next: ${next}. Start no workers on ${from}, because its jobs would run twice`,
    'always',
  );
}
