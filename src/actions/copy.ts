import { QueueError } from '../core/errors.ts';
import { createTemporaryText, type TemporaryText } from '../files/temporary-file.ts';
import type { ExportedRow } from '../store/contract/care.ts';
import type { App } from './app.ts';
import { type Digest, differenceOf, newDigester } from './copy-digest.ts';
import {
  type CopySource,
  countPausedForCopy,
  hasNoWorker,
  pauseForCopy,
  refuseLiveSource,
  untilIdle,
  withoutPause,
} from './copy-source.ts';
import { isComplete, markOf } from './copy-target.ts';
import { exportTo } from './export.ts';
import { importLines } from './import.ts';
import { countJobs } from './jobs.ts';
import { type PartialOutputs, partialOutputCounter } from './partial-outputs.ts';

/** An open store with its name for messages, which has no password. */
export interface NamedStore {
  app: App;
  name: string;
}

export interface CopyOptions {
  /** Pauses the queues of the source, and waits for its running jobs, instead of refusing while workers run. */
  pause: boolean;
  /** Opens the target, and may create it. Is called after the source was checked. */
  openTarget(): Promise<NamedStore>;
  /** Is called when the copy begins, because the target is empty. */
  onStart(): void;
  /** Is called often. Most calls need no text. */
  onProgress(text: () => string): void;
}

export interface Copy {
  from: string;
  to: string;
  jobs: number;
  /** The number of copied rows by table, and of output files. */
  rows: Record<string, number>;
  /** The number of queues of the source that are paused because of a copy. */
  paused_queues: number;
  /** The number of jobs that were listed as running, although no worker ran. In the copy, their attempts count as lost. */
  lost_jobs: number;
  /** The number of attempts whose output file was not found on this host. */
  missing_outputs: number;
  /** The attempts of whose output only the beginning and the end were copied, by host. */
  partial_outputs: PartialOutputs[];
  /** True if an earlier run had copied everything, and nothing was left to do. */
  was_complete: boolean;
}

/**
 * Copies the whole queue to an empty store. The target gets all rows in one transaction, which is committed after the copy was
 * compared with the source. So an interrupted copy leaves the target empty, and can be started again.
 */
export async function copyStore(source: CopySource, options: CopyOptions): Promise<Copy> {
  if (!options.pause) await refuseLiveSource(source);
  const target = await options.openTarget();
  const from = source.app.store;
  const names = { from: source.name, to: target.name };
  if (await isComplete(from, target.app, target.name)) {
    const jobs = await countJobs(target.app, {});
    const nothing = { rows: {}, lost_jobs: 0, missing_outputs: 0, partial_outputs: [] };
    return { ...names, jobs, ...nothing, paused_queues: await countPausedForCopy(from), was_complete: true };
  }
  options.onStart();
  if (options.pause) await pauseForCopy(source.app);
  const text = createTemporaryText();
  try {
    const { digest, mark, running, ...outputs } = await readSource(source, text, options);
    await writeTarget(target, { text, digest, mark, source }, options.onProgress);
    const rows = Object.fromEntries(Object.entries(digest).map(([table, sum]) => [table, sum.rows]));
    return {
      ...{ ...names, jobs: rows.job ?? 0, rows, paused_queues: await countPausedForCopy(from) },
      ...{ lost_jobs: running, missing_outputs: outputs.missing, partial_outputs: outputs.partial },
      was_complete: false,
    };
  } finally {
    text.close();
  }
}

/** Writes the source to `text`, as of a moment at which no job ran. */
async function readSource(source: CopySource, text: TemporaryText, { pause, onProgress }: CopyOptions) {
  for (;;) {
    if (pause)
      await untilIdle(source, (jobs) => onProgress(() => `waiting for running jobs to end: ${jobs}`));
    text.clear();
    const mark = await markOf(source.app.store, source.app.clock.now());
    const read = await readOnce(source.app, text, onProgress);
    // A worker may have started meanwhile, or have claimed a job just before its queue was paused. And a new queue is not paused.
    if (!pause) await refuseLiveSource(source);
    else if ((await pauseForCopy(source.app)) > 0) continue;
    if (!pause || read.running === 0 || (await hasNoWorker(source.app))) return { ...read, mark };
  }
}

/** Writes the source to `text` once. Counts the running jobs, and the outputs that are neither in the store nor in a file. */
async function readOnce(app: App, text: TemporaryText, onProgress: CopyOptions['onProgress']) {
  const digester = newDigester();
  let [rows, running, withOutput, inStore] = [0, 0, 0, 0];
  const onRow = (given: ExportedRow): ExportedRow => {
    const copied = withoutPause(given);
    const { table, row } = copied;
    digester.row(copied);
    rows++;
    onProgress(() => `reading row ${rows}`);
    if (table === 'job' && row.phase === 'running') running++;
    if (table === 'attempt' && row.finished_at !== null && Number(row.output_bytes) > 0) withOutput++;
    if (table === 'output') inStore++;
    return copied;
  };
  const files = new Set<number>();
  const partial = partialOutputCounter();
  await exportTo(app, text.write, {
    onRow,
    onFile(part) {
      files.add(part.attempt);
      digester.file(part);
    },
    onGap: partial.add,
  });
  const missing = Math.max(0, withOutput - inStore - files.size);
  return { digest: digester.digest(), running, missing, partial: partial.counts() };
}

/** Loads the text, and compares what was loaded with the digest of the source before it is committed. */
async function writeTarget(
  { app, name }: NamedStore,
  { text, digest, mark, source }: { text: TemporaryText; digest: Digest; mark: string; source: CopySource },
  onProgress: CopyOptions['onProgress'],
): Promise<void> {
  const total = Object.values(digest).reduce((sum, { rows }) => sum + rows, 0);
  const chunks = {
    *[Symbol.iterator]() {
      for (const chunk of text.chunks) {
        onProgress(() => `writing ${Math.floor((100 * text.bytesRead) / text.size)}%`);
        yield chunk;
      }
    },
  };
  const verify = () => {
    const digester = newDigester();
    let rows = 0;
    return {
      row(row: ExportedRow): void {
        rows++;
        onProgress(() => `verifying ${Math.floor((100 * rows) / total)}%`);
        digester.row(row);
      },
      file: digester.file,
      end(): void {
        const difference = differenceOf(digest, digester.digest());
        if (difference !== null)
          throw new QueueError(
            'store-corrupt',
            `the copy in ${name} differs from the original (${difference}), so nothing was copied`,
            `check the original: ${source.command} db check. Then run this command again`,
          );
      },
    };
  };
  try {
    await importLines(app, chunks, { onConflict: 'fail', mark, verify });
  } catch (error) {
    if (!(error instanceof QueueError && error.code === 'import-conflict')) throw error;
    const what = `${name} was changed by somebody else meanwhile, so nothing was copied`;
    throw new QueueError('wrong-state', what, 'copy the queue to another place', { cause: error });
  }
}
