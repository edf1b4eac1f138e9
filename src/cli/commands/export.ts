import { exportTo, exportToFile } from '../../actions/export-file.ts';
import { countOf } from '../../core/words.ts';
import { defineCommand } from '../command.ts';
import { startProgress } from '../progress.ts';
import { printable, printableJson } from '../text.ts';

export default defineCommand({
  name: 'export',
  summary: 'Export the whole queue as JSON lines',
  args: '[FILE]',
  most: 1,
  flags: { force: { help: 'overwrite FILE if it exists' } },
  examples: ['queuectl export queue.jsonl', 'queuectl export | gzip >queue.jsonl.gz'],
  notes: [
    'The export contains all queues, schedules, settings, events and statistics, and all jobs with their attempts and output. It is a consistent snapshot, and workers can keep running.',
    'Without FILE, the export is written to standard output. While a slow program reads it, the write-ahead log of the database grows.',
  ],
  async run({ io, app, location }, input) {
    const [file] = input.args;
    const store = await app({ ifMissing: 'refuse' });
    if (file === undefined || file === '-') {
      await exportTo(store, (text) => io.out(io.tty ? printableJson(text) : text));
      return 0;
    }
    const progress = startProgress(io);
    try {
      let rows = 0;
      const onLine = (): void => progress.at(() => `exporting row ${++rows}`);
      const exported = await exportToFile(store, location, file, input.has('force'), onLine);
      progress.end();
      const text = `${printable(exported.file)}: ${countOf(exported.jobs)}`;
      if (io.json) io.out(`${JSON.stringify(exported)}\n`);
      else io.out(io.tty && !io.quiet ? `${text}\n` : `${exported.file}\n`);
      return 0;
    } finally {
      progress.end();
    }
  },
});
