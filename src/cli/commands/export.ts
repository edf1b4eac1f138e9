import { exportTo, exportToFile } from '../../actions/export.ts';
import { printable } from '../../core/printable.ts';
import { countOf } from '../../core/words.ts';
import { defineCommand } from '../command.ts';
import { printResult } from '../print-result.ts';
import { startProgress } from '../progress.ts';
import { printableJson } from '../terminal-text.ts';

export default defineCommand({
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
