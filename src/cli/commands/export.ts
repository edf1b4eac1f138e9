import { closeSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { exportLines } from '../../actions/export.ts';
import {
  putInPlace,
  refuseDatabase,
  refuseExisting,
  refusePlace,
  refuseStore,
} from '../../actions/target.ts';
import { QueueError } from '../../core/errors.ts';
import { countOf } from '../../core/words.ts';
import { newDraft, removeDraft } from '../../exec/drafts.ts';
import { syncFile } from '../../exec/durable.ts';
import { defineCommand } from '../command.ts';
import { startProgress } from '../progress.ts';
import { printable, printableJson } from '../text.ts';

const BUFFER = 256 * 1024;

export default defineCommand({
  name: 'export',
  summary: 'Export the whole queue as JSON lines',
  args: '[FILE]',
  most: 1,
  flags: { force: { help: 'overwrite FILE if it exists' } },
  examples: ['queuectl export queue.jsonl', 'queuectl export | gzip >queue.jsonl.gz'],
  notes: [
    'Exports all jobs with their attempts and output, queues, schedules, settings, events and statistics. The export is consistent, and workers keep running. Without FILE, it goes to standard output. The write-ahead log grows while a slow reader is connected.',
  ],
  async run({ io, app, location }, input) {
    const [file] = input.args;
    const store = await app({ create: false });
    if (file === undefined || file === '-') {
      const lines = buffered((text) => io.out(io.tty ? printableJson(text) : text));
      await exportLines(store, lines.write);
      lines.flush();
      return 0;
    }
    const target = resolve(file);
    refusePlace(dirname(target));
    if (!input.has('force')) refuseExisting(target);
    refuseStore(target, location);
    refuseDatabase(target);
    const draft = newDraft(target);
    const progress = startProgress(io);
    try {
      const out = openSync(draft, 'wx', 0o600);
      let rows = 0;
      const lines = buffered((text) => writeAll(out, Buffer.from(text)));
      const counts = await exportLines(store, (line) => {
        lines.write(line);
        progress.at(() => `exporting row ${++rows}`);
      });
      lines.flush();
      closeSync(out);
      syncFile(draft);
      if (input.has('force')) renameSync(draft, target);
      else putInPlace(draft, target);
      syncFile(target);
      progress.end();
      if (io.json) io.out(`${JSON.stringify({ file: target, ...counts })}\n`);
      else io.out(io.tty && !io.quiet ? `${printable(target)}: ${countOf(counts.jobs)}\n` : `${target}\n`);
      return 0;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (error instanceof QueueError || code === undefined) throw error;
      throw new QueueError(
        code === 'ENOSPC' ? 'disk-full' : 'no-such-file',
        `cannot write ${target}: ${message.replace(draft, target)}`,
      );
    } finally {
      progress.end();
      removeDraft(draft);
    }
  },
});

/** Collects lines, because writing each one would need a system call. */
function buffered(out: (text: string) => void): { write(line: string): void; flush(): void } {
  let text = '';
  const flush = (): void => {
    if (text !== '') out(text);
    text = '';
  };
  return {
    write(line) {
      text += line;
      if (text.length > BUFFER) flush();
    },
    flush,
  };
}

function writeAll(file: number, data: Uint8Array): void {
  for (let at = 0; at < data.length; ) at += writeSync(file, data, at);
}
