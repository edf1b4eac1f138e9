import { spawn } from 'node:child_process';
import { closeSync, constants } from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
import { openRegular } from '../files/read.ts';
import { type AttemptFiles, allAttemptFiles, type OutputFiles, streamFiles } from '../state/attempt-files.ts';
import { gapOf, ignoreDirectoryError, outputSize, readGap, writeGap } from '../state/output.ts';
import type { StateDirectory } from '../state/state-directory.ts';

/** A file is trimmed when it uses more disk space than its limit times this factor. */
const SLACK_FACTOR = 1.5;
const BLOCK_BYTES = 4096;

/** Trims the output of an attempt. If it is not split, there is no file for stderr. */
export async function trimStreams(files: AttemptFiles, limitBytes: number): Promise<void> {
  for (const stream of ['stdout', 'stderr'] as const)
    await trimOutput(streamFiles(files, stream), limitBytes);
}

/** Records a gap in an output file far over its limit and, on Linux, punches a hole there. Elsewhere the file is shortened after the attempt. */
export async function trimOutput(files: OutputFiles, limitBytes: number): Promise<void> {
  const { bytes, used } = outputSize(files);
  if (used <= limitBytes * SLACK_FACTOR) return;
  const gap = gapOf(bytes, limitBytes, readGap(files));
  if (gap === null) return;
  // The gap is on disk before a byte is gone, so that nobody reads the hole as output.
  try {
    writeGap(files, gap);
  } catch (error) {
    return ignoreDirectoryError(error);
  }
  const start = Math.ceil(gap.from / BLOCK_BYTES) * BLOCK_BYTES;
  const length = Math.floor(gap.to / BLOCK_BYTES) * BLOCK_BYTES - start;
  if (length <= 0 || process.platform !== 'linux') return;
  crashPoint('before-punch');
  await punch(files.output, start, length);
  crashPoint('after-punch');
}

/** Punches a hole through a descriptor, because another file may have the name in the meantime. */
function punch(path: string, start: number, length: number): Promise<void> {
  return new Promise((resolve) => {
    const file = openRegular(path, constants.O_RDWR);
    if (typeof file !== 'number') return resolve();
    const args = ['--punch-hole', '--offset', String(start), '--length', String(length), '/proc/self/fd/0'];
    const child = spawn('fallocate', args, { stdio: [file, 'ignore', 'ignore'] });
    closeSync(file);
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
}

/** Trims the output of the attempts of all workers, which can free space on a full disk. */
export async function trimAllAttempts(state: StateDirectory, limitBytes: number): Promise<void> {
  for (const files of allAttemptFiles(state)) await trimStreams(files, limitBytes);
}
