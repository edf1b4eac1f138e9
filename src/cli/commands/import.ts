import { importLines } from '../../actions/import.ts';
import { invalidValue, usageError } from '../../core/errors.ts';
import { formatBytes } from '../../core/numbers.ts';
import { countOf } from '../../core/words.ts';
import { defineCommand } from '../command.ts';
import { printResult } from '../print-result.ts';
import { startProgress } from '../progress.ts';
import { openTextFile } from '../text-file.ts';

export default defineCommand({
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
      const { added, skipped } = await importLines(await app(), source.chunks, { onConflict });
      progress.end();
      const jobs = added.job ?? 0;
      printResult(io, { added, skipped }, `imported ${countOf(jobs)}`, jobs);
      if ((skipped.job ?? 0) > 0) io.note(`skipped ${countOf(skipped.job!)} with an id that already exists`);
      if ((skipped.rollup_kind ?? 0) > 0)
        io.note('this database already has statistics, so the statistics in the file were not imported');
    } finally {
      progress.end();
      source.close();
    }
  },
});
