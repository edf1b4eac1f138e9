import { mkdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import type { Stream } from '../core/job.ts';
import { cookieFor } from './key.ts';
import type { StateDirectory } from './state-directory.ts';

/** What of an attempt on disk concerns its output, or one stream of it. */
export interface OutputPlace {
  directory: string;
  /** stdout and stderr, or one of them, written by the command itself. */
  output: string;
  /** How the names begin that tell what was dropped of it. */
  gaps: string;
}

/** Where an attempt lives on disk. Named by the store's epoch and a number that is never reused, never by user text. */
export interface Place extends OutputPlace {
  state: StateDirectory;
  /** What the command reads, if it was given something; gone once it has been opened. */
  stdin: string;
  /** The proof of start and the exit code, written by the frame. */
  record: string;
  /** The epoch and the number, as the directory is called. */
  name: string;
  /** In the environment of everything the attempt starts: by it we know our processes. Others cannot make it up. */
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
    // Most who ask for a place want its output, and the cookie takes a look at a file.
    get cookie() {
      cookie ??= cookieFor(state, name);
      return cookie;
    },
  };
}

/** Returns the name of an attempt's directory. */
export const attemptName = (epoch: string, attempt: number): string => `${epoch}-${attempt}`;

/** Returns which attempt has this name; null: none. */
export function attemptOf(name: string): { epoch: string; attempt: number } | null {
  // Numbers begin at 1: 0 is the seal's.
  const [, epoch, attempt] = /^([0-9a-f]{12})-([1-9]\d{0,14})$/.exec(name) ?? [];
  return epoch === undefined ? null : { epoch, attempt: Number(attempt) };
}

/** Where a stream goes; stdout is also where both go that are not split. */
export function outputIn(directory: string, stream: Stream): OutputPlace {
  const [name, gaps] = stream === 'stdout' ? ['out', 'gap'] : ['err', 'errgap'];
  return { directory, output: join(directory, name!), gaps: gaps! };
}

/** False: somebody else has made it, so this attempt is no longer ours to start. */
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
    // Somebody has removed all of them.
    mkdirSync(dirname(place.directory), { recursive: true, mode: 0o700 });
    return makePlace(place);
  }
}

/**
 * Removes it with whatever is in it. The two files of an ordinary attempt are tried first, without a look around. What cannot
 * be removed, because it is somebody else's, is left: it stands in nobody's way.
 */
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
    // Somebody else's, or on a disk that cannot be written now.
  }
}
