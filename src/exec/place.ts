import { mkdirSync, rmdirSync, rmSync, unlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** What of an attempt on disk concerns its output. */
export interface OutputPlace {
  directory: string;
  /** stdout and stderr, written by the command itself. */
  output: string;
}

/** Where an attempt lives on disk. Named by the store's epoch and a number that is never reused, never by user text. */
export interface Place extends OutputPlace {
  /** The proof of start and the exit code, written by the frame. */
  record: string;
  /** In the environment of everything the attempt starts: by it we know our processes. */
  cookie: string;
}

export function placeOf(stateDirectory: string, epoch: string, attempt: number): Place {
  const cookie = `${epoch}-${attempt}`;
  const directory = join(stateDirectory, 'attempts', cookie);
  return {
    directory,
    output: join(directory, 'out'),
    record: join(directory, 'rec'),
    cookie,
  };
}

/** False: somebody else has made it, so this attempt is no longer ours to start. */
export function makePlace(place: Place): boolean {
  try {
    mkdirSync(place.directory, { mode: 0o700 });
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
  try {
    unlinkSync(place.output);
    unlinkSync(place.record);
    rmdirSync(place.directory);
  } catch {
    removeAll(place.directory);
  }
}

function removeAll(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    // Somebody else's, or on a disk that cannot be written now.
  }
}
