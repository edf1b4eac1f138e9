import { mkdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import type { Stream } from '../core/job.ts';
import { cookieFor } from './key.ts';
import type { StateDirectory } from './state-directory.ts';

/** The paths of an attempt's output, or of one stream of it. */
export interface OutputPlace {
  directory: string;
  /** stdout and stderr, or one of them, written by the command itself. */
  output: string;
  /** The prefix of the names that record which part of the output was dropped. */
  gaps: string;
}

/** The directory of an attempt and its files. Its name is the store's epoch and a number that is never reused. */
export interface Place extends OutputPlace {
  state: StateDirectory;
  /** The input of the command, if it has any. The file is removed once it has been opened. */
  stdin: string;
  /** Proves that the command started, and holds its exit code. Written by the frame. */
  record: string;
  /** The name of the directory: the epoch and the number. */
  name: string;
  /** Is in the environment of every process of the attempt and identifies it. Other users cannot forge it. */
  readonly cookie: string;
}

export function placeOf(state: StateDirectory, epoch: string, attempt: number): Place {
  const name = attemptName(epoch, attempt);
  const directory = join(state.attempts, name);
  let cookie: string | null = null;
  return {
    ...outputIn(directory, 'stdout'),
    state,
    stdin: join(directory, 'in'),
    record: join(directory, 'rec'),
    name,
    // Made on demand, because the key has to be read for it and most callers need only the output.
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

/** Returns which attempt has this name; null: none. */
export function attemptOf(name: string): { epoch: string; attempt: number } | null {
  // Attempts are numbered from 1. The seal has 0.
  const [, epoch, attempt] = /^([0-9a-f]{12})-([1-9]\d{0,14})$/.exec(name) ?? [];
  return epoch === undefined ? null : { epoch, attempt: Number(attempt) };
}

/** Returns where a stream goes. Output that is not split goes to stdout. */
export function outputIn(directory: string, stream: Stream): OutputPlace {
  const [name, gaps] = stream === 'stdout' ? ['out', 'gap'] : ['err', 'errgap'];
  return { directory, output: join(directory, name!), gaps: gaps! };
}

/** Creates the directory. Returns false if it exists: then another process started or gated this attempt. */
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
    // Somebody has removed the directory of all attempts.
    mkdirSync(dirname(place.directory), { recursive: true, mode: 0o700 });
    return makePlace(place);
  }
}

/** Removes the directory of an attempt. The two files of an ordinary attempt are tried first, without listing the directory. */
export function removePlace(place: Place): void {
  crashPoint('before-remove-place');
  try {
    unlinkSync(place.output);
    crashPoint('in-remove-place');
    unlinkSync(place.record);
    rmdirSync(place.directory);
  } catch {
    removeAll(place.directory);
  }
}

/** Removes a directory with whatever is in it, as far as it can. */
export function removeAll(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    // It belongs to another user, or the disk cannot be written now. It does no harm.
  }
}
