import { lstatSync, mkdirSync, openSync, rmSync, type Stats, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import type { Stream } from '../core/job.ts';
import { orNull } from '../core/or-null.ts';
import { namesIn } from '../files/names-in.ts';
import { cookieFor } from './key.ts';
import type { SpareOutputs } from './spare-outputs.ts';
import type { StateDirectory } from './state-directory.ts';

/** The paths of an attempt's output, or of one stream of it. */
export interface OutputPlace {
  /** The file to which the command writes stdout and stderr, or one of them. */
  output: string;
  /** The output of an ended attempt that exceeded its limit: head, mark and tail. */
  short: string;
  /** A symbolic link whose text is the gap (see `readGap`). It is never followed. */
  gap: string;
  /** Whether an earlier version of queuectl started the attempt. It gave each attempt a directory. */
  hasDirectory: boolean;
}

/** The paths of the files of an attempt. All of them start with `prefix`. */
export interface Place extends OutputPlace {
  state: StateDirectory;
  prefix: string;
  /** The input of the command, if it has any. The file is removed once it has been opened. */
  stdin: string;
  /** The record, with which the frame proves that the command started, and in which it writes the exit code. */
  record: string;
  /** Holds the first signal for a cancelled attempt, if it is not SIGTERM. */
  signal: string;
  /** Exists if the guard of the host has stopped the attempt. */
  guarded: string;
  /** The store's epoch and the number of the attempt, which is never reused. The names of all files begin with it. */
  name: string;
  /** Is in the environment of the attempt's processes and identifies them. With a key, other users cannot forge it. */
  readonly cookie: string;
}

const STREAMS: readonly Stream[] = ['stdout', 'stderr'];

/** Returns the paths of an attempt that this version starts. Creates nothing. */
export function newPlace(state: StateDirectory, epoch: string, attempt: number): Place {
  return placeNamed(state, attemptName(epoch, attempt), false);
}

/** Returns the paths of an attempt, which an earlier version may have started. Creates nothing. */
export function placeOf(state: StateDirectory, epoch: string, attempt: number): Place {
  const name = attemptName(epoch, attempt);
  const stat = statOf(join(state.attempts, name));
  return placeNamed(state, name, stat?.isDirectory() === true);
}

function placeNamed(state: StateDirectory, name: string, hasDirectory: boolean): Place {
  const prefix = `${state.attempts}/${name}${hasDirectory ? '/' : '.'}`;
  let cookie: string | null = null;
  return {
    ...outputPlaceIn({ prefix, hasDirectory }, 'stdout'),
    state,
    prefix,
    stdin: `${prefix}in`,
    record: `${prefix}rec`,
    signal: `${prefix}signal`,
    guarded: `${prefix}guarded`,
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

/** Returns the name of an attempt. */
export const attemptName = (epoch: string, attempt: number): string => `${epoch}-${attempt}`;

/** Returns the attempt to which the file or directory with this name belongs, or null if it belongs to none. */
export function attemptOf(name: string): { epoch: string; attempt: number } | null {
  // Attempts are numbered from 1. The seal has the number 0.
  const [, epoch, attempt] = /^([0-9a-f]{12})-([1-9]\d{0,14})(?:\.|$)/.exec(name) ?? [];
  return epoch === undefined ? null : { epoch, attempt: Number(attempt) };
}

/** Returns how the path of a file of an attempt continues after the state directory, in this and in earlier versions. */
export function pathsInState(name: string, file: string): string[] {
  return [`/attempts/${name}.${file}`, `/attempts/${name}/${file}`];
}

/** Returns the paths for a stream of an attempt. Output that is not split uses those of stdout. */
export function outputPlaceIn(
  { prefix, hasDirectory }: Pick<Place, 'prefix' | 'hasDirectory'>,
  stream: Stream,
): OutputPlace {
  const [output, gap] = stream === 'stdout' ? ['out', 'gap'] : ['err', 'errgap'];
  return {
    output: `${prefix}${output}`,
    short: `${prefix}${output}.short`,
    gap: `${prefix}${gap}`,
    hasDirectory,
  };
}

/**
 * Creates the output file, or uses a spare one, and opens it for appending. Returns null if it exists, because another process has
 * started or gated the attempt.
 */
export function createOutput(
  { output, state }: Pick<Place, 'output' | 'state'>,
  spares: SpareOutputs | null = null,
): number | null {
  crashPoint('before-place');
  try {
    const spare = spares?.use(output);
    const file = spare === undefined ? openSync(output, 'ax', 0o600) : spare; // fault-control: gate-output
    crashPoint('after-place');
    return file;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return null;
    if (code !== 'ENOENT') throw error;
    // The directory that holds all attempts was removed.
    mkdirSync(state.attempts, { recursive: true, mode: 0o700 });
    return createOutput({ output, state });
  }
}

/**
 * Removes the files of an attempt that has only an output file and a record. Looks for others if one of these is missing. An
 * empty output file may become a spare one.
 */
export function removeOrdinaryPlace(place: Place, spares: SpareOutputs | null): void {
  crashPoint('before-remove-place');
  try {
    if (spares?.keep(place.output) !== true) unlinkSync(place.output);
    crashPoint('in-remove-place');
    unlinkSync(place.record);
  } catch {
    removePlace(place);
  }
}

/** Removes the files of an attempt, as far as possible. Drafts that a killed worker left are removed by a later sweep. */
export function removePlace(place: Place): void {
  crashPoint('before-remove-place');
  for (const file of filesOf(place)) {
    removeAll(file);
    crashPoint('in-remove-place');
  }
}

/** Returns the paths of the files that an attempt has. A directory of an earlier version counts as one file. */
export function filesOf(place: Place): string[] {
  if (place.hasDirectory) return [place.prefix.slice(0, -1)];
  const streams = STREAMS.map((stream) => outputPlaceIn(place, stream));
  const paths = streams.flatMap(({ output, short, gap }) => [output, short, gap]);
  return [...paths, place.record, place.stdin, place.signal, place.guarded].filter(
    (path) => statOf(path) !== undefined,
  );
}

/** Returns undefined if there is no such file, or if it cannot be seen because somebody has locked the directory. */
function statOf(path: string): Stats | undefined {
  return orNull(() => lstatSync(path, { throwIfNoEntry: false })) ?? undefined;
}

/** Returns the names of all files in a state directory that belong to attempts, by the name of their attempt. */
export function namesByAttempt(state: StateDirectory): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name of namesIn(state.attempts)) {
    const attempt = attemptOf(name);
    if (attempt === null) continue;
    const key = attemptName(attempt.epoch, attempt.attempt);
    const names = found.get(key);
    if (names === undefined) found.set(key, [name]);
    else names.push(name);
  }
  return found;
}

/** Removes a file, or a directory and everything in it, as far as possible. */
export function removeAll(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The directory belongs to another user, or the disk is not writable. What remains does no harm.
  }
}
