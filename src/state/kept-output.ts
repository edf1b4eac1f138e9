import { chmodSync, constants, copyFileSync, lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { namesIn } from '../files/names-in.ts';
import { attemptName, attemptOf } from './place.ts';
import { removeSeal } from './seal.ts';
import type { StateDirectory } from './state-directory.ts';

/** Returns the numbers of the attempts of an epoch that have a directory in this state directory. */
export function attemptsIn(state: StateDirectory, epoch: string): number[] {
  return attemptsAmong(namesIn(state.attempts), epoch);
}

/** Returns the numbers of the attempts of an epoch whose names are in this list. */
export function attemptsAmong(names: string[], epoch: string): number[] {
  return names.flatMap((name) => {
    const found = attemptOf(name);
    return found?.epoch === epoch ? [found.attempt] : [];
  });
}

/** Copies the output and the gaps of an attempt's directory, but not the record. Throws if `to` exists, and follows no link. */
export function copyOutput(from: string, to: string): void {
  crashPoint('before-keep-output');
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
  crashPoint('making-keep-output');
  mkdirSync(to, { mode: 0o700 });
  crashPoint('in-keep-output');
  for (const name of readdirSync(from)) {
    const file = join(from, name);
    if (!/^((out|err)(\.short)?|(err)?gap-\d+-\d+)$/.test(name) || !lstatSync(file).isFile()) continue;
    copyFileSync(file, join(to, name), constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    chmodSync(join(to, name), 0o600);
    crashPoint('after-keep-output');
  }
}

/** Moves the attempt directories of an epoch to another state directory, and removes its seal. */
export function moveOutputs(from: StateDirectory, to: StateDirectory, epoch: string): void {
  // If the store is moved back to `from` later, an old seal would wrongly prove that no directory was removed.
  removeSeal(from, epoch);
  for (const attempt of attemptsIn(from, epoch)) {
    const name = attemptName(epoch, attempt);
    crashPoint('before-move-output');
    mkdirSync(to.attempts, { recursive: true, mode: 0o700 });
    crashPoint('in-move-output');
    renameSync(join(from.attempts, name), join(to.attempts, name));
    crashPoint('after-move-output');
  }
}

/** Returns the epoch to which the most attempt directories belong, or null if there are none. */
export function mostCommonEpoch(state: StateDirectory): string | null {
  const counts = new Map<string, number>();
  for (const name of namesIn(state.attempts)) {
    const epoch = attemptOf(name)?.epoch;
    if (epoch !== undefined) counts.set(epoch, (counts.get(epoch) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}
