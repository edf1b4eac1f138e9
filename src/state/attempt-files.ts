import { lstatSync, mkdirSync, openSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint, inSteps } from '../core/crash-point.ts';
import type { Stream } from '../core/jobs/job.ts';
import { orNull } from '../core/text/language.ts';
import { namesIn } from '../files/read.ts';
import { cookieFor } from './key.ts';
import type { StateDirectory } from './state-directory.ts';

/** The paths of an attempt's output, or of one stream of it. */
export interface OutputFiles {
  /** The file to which the command writes stdout and stderr, or one of them. */
  output: string;
  /** The output of an ended attempt that exceeded its limit: head, mark and tail. */
  short: string;
  /** A symbolic link whose text is the gap (see `readGap`). It is never followed. */
  gap: string;
}

/** The paths of the files of an attempt. All of them start with `prefix`. */
export interface AttemptFiles extends OutputFiles {
  state: StateDirectory;
  prefix: string;
  /** The input of the command, if it has any. The file is removed once it has been opened. */
  stdin: string;
  /** The record, with which the frame proves that the command started, and in which it writes the exit code. */
  record: string;
  /** Exists if the guard of the host has stopped the attempt. */
  guarded: string;
  /** The store's epoch and the number of the attempt, which is never reused. The names of all files begin with it. */
  name: string;
  /** Is in the environment of the attempt's processes and identifies them. With a key, other users cannot forge it. */
  readonly cookie: string;
}

const STREAMS: readonly Stream[] = ['stdout', 'stderr'];

/** Returns the paths of an attempt. Creates nothing. */
export function attemptFiles(state: StateDirectory, epoch: string, attempt: number): AttemptFiles {
  const name = attemptName(epoch, attempt);
  const prefix = `${state.attempts}/${name}.`;
  let cookie: string | null = null;
  return {
    ...streamFiles({ prefix }, 'stdout'),
    state,
    prefix,
    stdin: `${prefix}in`,
    record: `${prefix}rec`,
    guarded: `${prefix}guarded`,
    name,
    // The cookie is made on demand, because that reads the key, and most callers need only the output.
    get cookie() {
      cookie ??= cookieFor(state, name);
      return cookie;
    },
  };
}

/** Returns the files of an attempt of an open store. */
export function filesOfAttempt(
  { stateDirectory, store }: { stateDirectory: StateDirectory; store: { epoch: string } },
  attempt: number,
): AttemptFiles {
  return attemptFiles(stateDirectory, store.epoch, attempt);
}

/** Returns the name of an attempt. */
export const attemptName = (epoch: string, attempt: number): string => `${epoch}-${attempt}`;

/** Returns the attempt to which the file or directory with this name belongs, or null if it belongs to none. Numbers begin with 1. */
export function attemptOf(name: string): { epoch: string; attempt: number } | null {
  const [, epoch, attempt] = /^([0-9a-f]{12})-([1-9]\d{0,14})(?:\.|$)/.exec(name) ?? [];
  return epoch === undefined ? null : { epoch, attempt: Number(attempt) };
}

/** Returns how the path of a file of an attempt continues after the state directory. */
export const pathInState = (name: string, file: string): string => `/attempts/${name}.${file}`;

/** Returns the paths for a stream of an attempt. Output that is not split uses those of stdout. */
export function streamFiles({ prefix }: Pick<AttemptFiles, 'prefix'>, stream: Stream): OutputFiles {
  const [output, gap] = stream === 'stdout' ? ['out', 'gap'] : ['err', 'errgap'];
  return {
    output: `${prefix}${output}`,
    short: `${prefix}${output}.short`,
    gap: `${prefix}${gap}`,
  };
}

/**
 * Creates the output file and opens it for appending. Returns null if it exists, because another process has started or gated
 * the attempt.
 */
export function createOutput({ output, state }: Pick<AttemptFiles, 'output' | 'state'>): number | null {
  crashPoint('before-place');
  try {
    const file = openSync(output, 'ax', 0o600); // fault-control: gate-output
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

/** Removes the files of an attempt that has only an output file and a record. Looks for others if one of these is missing. */
export function removeOrdinaryFiles(files: AttemptFiles): void {
  crashPoint('before-remove-place');
  try {
    unlinkSync(files.output);
    crashPoint('in-remove-place');
    unlinkSync(files.record);
  } catch {
    removeFiles(files);
  }
}

/** Removes the files of an attempt, as far as possible. Drafts that a killed worker left are removed by a later sweep. */
export function removeFiles(files: AttemptFiles): void {
  crashPoint('before-remove-place');
  for (const file of pathsOf(files)) {
    removeAll(file);
    crashPoint('in-remove-place');
  }
}

/** Returns the paths of the files that an attempt has. */
export function pathsOf(files: AttemptFiles): string[] {
  const streams = STREAMS.map((stream) => streamFiles(files, stream));
  const paths = streams.flatMap(({ output, short, gap }) => [output, short, gap]);
  // A file cannot be seen if somebody has locked the directory.
  return [...paths, files.record, files.stdin, files.guarded].filter(
    (path) => orNull(() => lstatSync(path)) !== null,
  );
}

/** Returns the names of all files in a state directory that belong to attempts, by the name of their attempt. */
export function namesByAttempt(state: StateDirectory): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name of namesIn(state.attempts)) {
    if (attemptOf(name) === null) continue;
    const attempt = name.split('.', 1)[0]!;
    found.set(attempt, [...(found.get(attempt) ?? []), name]);
  }
  return found;
}

/** Returns the files of all attempts that have any. */
export function allAttemptFiles(state: StateDirectory): AttemptFiles[] {
  return [...namesByAttempt(state).keys()].map((name) => {
    const { epoch, attempt } = attemptOf(name)!;
    return attemptFiles(state, epoch, attempt);
  });
}

/** Removes a file, or a directory and everything in it, as far as possible. */
export function removeAll(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // The directory belongs to another user, or the disk is not writable. What remains does no harm.
  }
}

/** Returns the numbers of the attempts of an epoch that have files in this state directory. */
export function attemptsIn(state: StateDirectory, epoch: string): number[] {
  return attemptsAmong(namesIn(state.attempts), epoch);
}

/** Returns the numbers of the attempts of an epoch to which files with these names belong. */
export function attemptsAmong(names: string[], epoch: string): number[] {
  const numbers = names.flatMap((name) => {
    const found = attemptOf(name);
    return found?.epoch === epoch ? [found.attempt] : [];
  });
  return [...new Set(numbers)];
}

/** Moves the files of the attempts of an epoch to another state directory. */
export function moveOutputs(from: StateDirectory, to: StateDirectory, epoch: string): void {
  for (const name of namesIn(from.attempts)) {
    if (attemptOf(name)?.epoch !== epoch) continue;
    const make = (): void => void mkdirSync(to.attempts, { recursive: true, mode: 0o700 });
    inSteps('move-output', make, () => renameSync(join(from.attempts, name), join(to.attempts, name)));
  }
}

/** Returns the epoch to which most files of attempts belong, or null if there are none. */
export function mostCommonEpoch(state: StateDirectory): string | null {
  const counts = new Map<string, number>();
  for (const name of namesIn(state.attempts)) {
    const epoch = attemptOf(name)?.epoch;
    if (epoch !== undefined) counts.set(epoch, (counts.get(epoch) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}
