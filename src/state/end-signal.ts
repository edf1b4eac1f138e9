import { closeSync, readSync, writeFileSync } from 'node:fs';
import { END_SIGNALS } from '../core/signals.ts';
import { openRegular } from '../files/regular-file.ts';
import type { Place } from './place.ts';

const MAX_BYTES = 16;

/** Stores the first signal for an attempt that is about to be cancelled. Does nothing if no attempt has started yet. */
export function chooseEndSignal(place: Place, signal: NodeJS.Signals): void {
  try {
    writeFileSync(place.signal, `${signal}\n`, { mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}

/** Returns the first signal for a cancelled attempt: the stored one, or SIGTERM. */
export function endSignalOf(place: Place): NodeJS.Signals {
  const file = openRegular(place.signal);
  if (typeof file !== 'number') return 'SIGTERM';
  const buffer = Buffer.alloc(MAX_BYTES);
  const text = buffer.toString('latin1', 0, readSync(file, buffer, 0, MAX_BYTES, 0)).trim();
  closeSync(file);
  return END_SIGNALS.find((name) => name === text) ?? 'SIGTERM';
}
