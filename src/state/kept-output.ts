import { chmodSync, constants, copyFileSync, lstatSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { namesIn } from '../files/names-in.ts';
import { readGap, writeGap } from './output.ts';
import { attemptOf, outputPlaceIn, type Place } from './place.ts';
import { removeSeal } from './seal.ts';
import type { StateDirectory } from './state-directory.ts';

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

/** Copies the output and the gaps of an attempt, but not the record. Throws if `to` has output, and follows no link. */
export function copyOutput(from: Place, to: Place): void {
  crashPoint('before-keep-output');
  mkdirSync(to.state.attempts, { recursive: true, mode: 0o700 });
  crashPoint('making-keep-output');
  for (const stream of ['stdout', 'stderr'] as const) {
    const [source, target] = [outputPlaceIn(from, stream), outputPlaceIn(to, stream)];
    for (const kind of ['output', 'short'] as const) {
      if (lstatSync(source[kind], { throwIfNoEntry: false })?.isFile() !== true) continue;
      crashPoint('in-keep-output');
      copyFileSync(source[kind], target[kind], constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      chmodSync(target[kind], 0o600);
      crashPoint('after-keep-output');
    }
    const gap = readGap(source);
    if (gap !== null) writeGap(target, gap);
  }
}

/** Moves the files of the attempts of an epoch to another state directory, and removes its seal. */
export function moveOutputs(from: StateDirectory, to: StateDirectory, epoch: string): void {
  // If the store is moved back to `from` later, an old seal would wrongly prove that no directory was removed.
  removeSeal(from, epoch);
  for (const name of namesIn(from.attempts)) {
    if (attemptOf(name)?.epoch !== epoch) continue;
    crashPoint('before-move-output');
    mkdirSync(to.attempts, { recursive: true, mode: 0o700 });
    crashPoint('in-move-output');
    renameSync(join(from.attempts, name), join(to.attempts, name));
    crashPoint('after-move-output');
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
