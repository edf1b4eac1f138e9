import { mkdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import type { Stream } from '../core/job.ts';
import { orNull } from '../core/or-null.ts';
import { cookieFor } from './key.ts';
import type { StateDirectory } from './state-directory.ts';

/** The paths of an attempt's output, or of one stream of it. */
export interface OutputPlace {
  directory: string;
  /** The file to which the command writes stdout and stderr, or one of them. */
  output: string;
  /** The prefix of the names of the empty files that record the gap (see `readGap`). */
  gapPrefix: string;
}

/** The paths of an attempt's directory and of its files. */
export interface Place extends OutputPlace {
  state: StateDirectory;
  /** The input of the command, if it has any. The file is removed once it has been opened. */
  stdin: string;
  /** The record, with which the frame proves that the command started, and in which it writes the exit code. */
  record: string;
  /** The name of the directory: the store's epoch and the number of the attempt, which is never reused. */
  name: string;
  /** Is in the environment of the attempt's processes and identifies them. With a key, other users cannot forge it. */
  readonly cookie: string;
}

/** Returns the paths of an attempt. Creates nothing. */
export function placeOf(state: StateDirectory, epoch: string, attempt: number): Place {
  const name = attemptName(epoch, attempt);
  const directory = join(state.attempts, name);
  let cookie: string | null = null;
  return {
    ...outputPlaceIn(directory, 'stdout'),
    state,
    stdin: join(directory, 'in'),
    record: join(directory, 'rec'),
    name,
    // The cookie is made on demand, because that reads the key, and most callers need only the output.
    get cookie() {
      cookie ??= cookieFor(state, name);
      return cookie;
    },
  };
}

/** Returns the place of an attempt of an open store. */
export function placeOfAttempt(
  { stateDirectory, store }: { stateDirectory: StateDirectory; store: { epoch: string } },
  attempt: number,
): Place {
  return placeOf(stateDirectory, store.epoch, attempt);
}

/** Returns the name of an attempt's directory. */
export const attemptName = (epoch: string, attempt: number): string => `${epoch}-${attempt}`;

/** Returns the attempt whose directory has this name, or null if it is not the name of one. */
export function attemptOf(name: string): { epoch: string; attempt: number } | null {
  // Attempts are numbered from 1. The directory of the seal has the number 0.
  const [, epoch, attempt] = /^([0-9a-f]{12})-([1-9]\d{0,14})$/.exec(name) ?? [];
  return epoch === undefined ? null : { epoch, attempt: Number(attempt) };
}

/** Returns the paths for a stream in an attempt's directory. Output that is not split uses those of stdout. */
export function outputPlaceIn(directory: string, stream: Stream): OutputPlace {
  const [name, gapPrefix] = stream === 'stdout' ? ['out', 'gap'] : ['err', 'errgap'];
  return { directory, output: join(directory, name!), gapPrefix: gapPrefix! };
}

/** Creates the attempt's directory. Returns false if it exists, because another process has started or gated the attempt. */
export function makePlace(place: Place): boolean {
  crashPoint('before-place');
  try {
    mkdirSync(place.directory, { mode: 0o700 });
    crashPoint('after-place');
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return false;
    if (code !== 'ENOENT') throw error;
    // The parent directory, which holds all attempts, was removed.
    mkdirSync(dirname(place.directory), { recursive: true, mode: 0o700 });
    return makePlace(place);
  }
}

/** Removes the directory of an attempt, as far as possible. */
export function removePlace(place: Place): void {
  crashPoint('before-remove-place');
  try {
    // An ordinary attempt has only two files, and removing them by name needs no listing.
    unlinkSync(place.output);
    crashPoint('in-remove-place');
    unlinkSync(place.record);
    rmdirSync(place.directory);
  } catch {
    removeAll(place.directory);
  }
}

/** Removes a directory and everything in it, as far as possible. */
export function removeAll(directory: string): void {
  // This fails if the directory belongs to another user, or the disk is not writable. What remains does no harm.
  orNull(() => rmSync(directory, { recursive: true, force: true }));
}
