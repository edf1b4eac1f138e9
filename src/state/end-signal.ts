import { closeSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { END_SIGNALS } from '../core/signals.ts';
import { openRegular } from '../files/regular-file.ts';
import type { Place } from './place.ts';

const LONGEST = 16;

/** Chooses the first signal for an attempt that is about to be cancelled. An attempt without a directory has not started. */
export function chooseEndSignal(place: Place, signal: NodeJS.Signals): void {
  try {
    writeFileSync(fileIn(place), `${signal}\n`, { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Returns the first signal for a cancelled attempt. */
export function endSignalOf(place: Place): NodeJS.Signals {
  const file = openRegular(fileIn(place));
  if (typeof file !== 'number') return 'SIGTERM';
  const buffer = Buffer.alloc(LONGEST);
  const text = buffer.toString('latin1', 0, readSync(file, buffer, 0, LONGEST, 0)).trim();
  closeSync(file);
  return END_SIGNALS.find((name) => name === text) ?? 'SIGTERM';
}

function fileIn(place: Place): string {
  return join(place.directory, 'signal');
}
