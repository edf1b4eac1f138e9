import { backup, restore } from '../../actions/transfer/backup.ts';
import { exportTo, exportToFile } from '../../actions/transfer/export.ts';
import { importLines } from '../../actions/transfer/import.ts';
import { invalidValue, usageError } from '../../core/errors.ts';
import { formatBytes } from '../../core/text/numbers.ts';
import { printableJson } from '../../core/text/printable.ts';
import { pathWord } from '../../core/text/shell-quote.ts';
import { countOf } from '../../core/text/words.ts';
import { systemClock } from '../../core/time/clock.ts';
import { defineCommand } from '../frame/command.ts';
import { askToConfirm } from '../frame/job-action-command.ts';
import { openTextFile } from '../frame/text-file.ts';
import { printResult } from '../print/layout.ts';
import { startProgress } from '../print/progress.ts';
import { printable } from '../print/text.ts';

const backupCommand = defineCommand({
  name: 'backup',
  summary: 'Back up the queue to a file while workers keep running',
  args: 'FILE',
  flags: {
    force: { help: 'overwrite FILE if it exists' },
    'with-output': { help: 'also back up job output longer than 16 KiB, to the directory FILE.d' },
  },
  examples: ['queuectl backup queue-monday.db', 'queuectl backup --force --with-output /backup/queue.db'],
  notes: [
    'The backup is a consistent snapshot of the queue. When the command returns, the backup has been verified and written to disk. Only you can read the file.',
    "A backup is a database that you can use directly, for example with 'queuectl --db FILE list'. Without --with-output, it does not contain the output of attempts that printed more than 16 KiB.",
    'If you restore the backup, jobs that were running during the backup become pending again. Their attempts are treated as lost in a crash.',
  ],
  async run({ io, app, location, anyOwner }, input) {
    const [file] = input.args;
    if (file === undefined) throw usageError('backup requires a file', 'usage: queuectl backup FILE');
    if (file === '-')
      throw usageError(
        'a backup cannot be written to standard output',
        'to back up to a file: queuectl backup FILE. To write to standard output: queuectl export',
      );
    const options = { force: input.has('force'), withOutput: input.has('with-output'), anyOwner };
    const made = await backup(await app({ ifMissing: 'refuse' }), location, file, options);
    const sentence = `${printable(made.file)}: ${countOf(made.jobs)}, ${formatBytes(made.bytes)}`;
    printResult(io, made, sentence, made.file);
    if (made.outputs_left > 0)
      io.note(
        `the backup does not include ${countOf(made.outputs_left, 'output file')} longer than 16 KiB. Use --with-output to include all output`,
      );
  },
});

const restoreCommand = defineCommand({
  name: 'restore',
  summary: 'Restore the queue from a backup',
  args: 'FILE',
  flags: {
    yes: { short: 'y', help: 'do not ask for confirmation before replacing a queue that is not empty' },
  },
  examples: ['queuectl restore queue-monday.db', 'queuectl restore --yes /backup/queue.db'],
  notes: [
    'Stop all workers first. queuectl verifies the backup and then replaces the queue with it in one step. The old database is kept in the same directory.',
    'Jobs that were running during the backup become pending again, and their crash count increases by one. At-most-once jobs become dead instead.',
  ],
  async run(context, input) {
    const { io, location, anyOwner } = context;
    const [file] = input.args;
    if (file === undefined)
      throw usageError('restore requires a backup file', 'usage: queuectl restore FILE');
    const confirm = (found: string): boolean =>
      input.has('yes') ||
      askToConfirm(
        context,
        `replace ${location} (${found})?`,
        `to confirm: queuectl restore --yes ${pathWord(file)}`,
      );
    const runtime = { clock: systemClock, random: Math.random };
    const restored = await restore(runtime, location, file, anyOwner, confirm);
    if (restored === null) return 1;
    printResult(io, restored, `restored ${countOf(restored.jobs)}`, restored.jobs);
    if (restored.kept !== null) io.note(`the previous database was kept as ${restored.kept}`);
    return 0;
  },
});

const exportCommand = defineCommand({
  name: 'export',
  summary: 'Export the whole queue as JSON lines',
  args: '[FILE]',
  flags: { force: { help: 'overwrite FILE if it exists' } },
  examples: ['queuectl export queue.jsonl', 'queuectl export | gzip >queue.jsonl.gz'],
  notes: [
    'The export contains all queues, schedules, settings, events and statistics, and all jobs with their attempts and output. It is a consistent snapshot, and workers can keep running.',
    'Without FILE, the export is written to standard output. While a slow program reads it, the write-ahead log of the database grows.',
  ],
  async run({ io, app, location }, input) {
    const [file] = input.args;
    const opened = await app();
    if (file === undefined || file === '-') {
      await exportTo(opened, (text) => io.out(io.tty ? printableJson(text) : text));
      return;
    }
    const progress = startProgress(io);
    try {
      let rows = 0;
      const onLine = (): void => {
        rows++;
        progress.update(() => `exporting row ${rows}`);
      };
      const exported = await exportToFile(opened, location, file, input.has('force'), onLine);
      progress.end();
      const sentence = `${printable(exported.file)}: ${countOf(exported.jobs)}`;
      printResult(io, exported, sentence, exported.file);
    } finally {
      progress.end();
    }
  },
});

const importCommand = defineCommand({
  name: 'import',
  summary: "Import a file written by 'queuectl export'",
  args: 'FILE',
  access: 'write',
  creates: true,
  flags: {
    'on-conflict': {
      value: 'fail|skip',
      help: 'what to do if an id or name already exists: fail, or skip the entry (default: fail)',
    },
  },
  examples: ['queuectl import queue.jsonl', 'gunzip <queue.jsonl.gz | queuectl import --on-conflict skip -'],
  notes: [
    'The queue does not have to be empty. The import runs in one transaction. If it fails, nothing is imported.',
    'Jobs that were running during the export become pending again, and their crash count increases by one. At-most-once jobs become dead instead.',
  ],
  async run({ io, app }, input) {
    const [file] = input.args;
    if (file === undefined)
      throw usageError('import requires a file (- is standard input)', 'usage: queuectl import FILE');
    const onConflict = input.one('on-conflict') ?? 'fail';
    if (onConflict !== 'fail' && onConflict !== 'skip')
      throw invalidValue(`--on-conflict must be fail or skip, not '${onConflict}'`);
    const progress = startProgress(io);
    const source = openTextFile(file, (bytes) => progress.update(() => `reading ${formatBytes(bytes)}`));
    try {
      const { added, skipped, notes } = await importLines(await app(), source.chunks, { onConflict });
      progress.end();
      const jobs = added.job ?? 0;
      printResult(io, { added, skipped }, `imported ${countOf(jobs)}`, jobs);
      for (const note of notes) io.warn(note);
      if ((skipped.job ?? 0) > 0) io.note(`skipped ${countOf(skipped.job!)} with an id that already exists`);
      if ((skipped.rollup_kind ?? 0) > 0)
        io.note('this database already has statistics, so the statistics in the file were not imported');
    } finally {
      progress.end();
      source.close();
    }
  },
});

export default {
  backup: backupCommand,
  restore: restoreCommand,
  export: exportCommand,
  import: importCommand,
};
