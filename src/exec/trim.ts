import { spawn } from 'node:child_process';
import { gapOf, outputSize, readGap, writeGap } from './output.ts';
import type { Place } from './place.ts';

/** The file may use this much more than its limit before it is trimmed (again). */
const SLACK = 1.5;
const BLOCK = 4096;

/**
 * Gives the middle of a growing output file back to the file system. The command appends undisturbed: a hole is
 * punched, so no byte moves. Where holes cannot be punched, the file is cut down when the attempt ends.
 */
export async function trimOutput(place: Place, limit: number): Promise<void> {
  const bytes = outputSize(place);
  const dropped = readGap(place);
  const used = bytes - (dropped === null ? 0 : dropped.to - dropped.from);
  if (used <= limit * SLACK) return;
  const gap = gapOf(bytes, limit, dropped);
  if (gap === null) return;
  // The mark is on disk before a byte is gone, so that nobody reads the hole as output.
  writeGap(place, gap);
  const start = Math.ceil(gap.from / BLOCK) * BLOCK;
  const length = Math.floor(gap.to / BLOCK) * BLOCK - start;
  if (length > 0 && process.platform === 'linux') await punch(place.output, start, length);
}

function punch(file: string, start: number, length: number): Promise<void> {
  return new Promise((resolve) => {
    const args = ['--punch-hole', '--offset', String(start), '--length', String(length), file];
    const child = spawn('fallocate', args, { stdio: 'ignore' });
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
}
