import { mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { namesIn } from '../files/read.ts';
import { attemptOf } from './attempt-files.ts';
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

/** Moves the files of the attempts of an epoch to another state directory. */
export function moveOutputs(from: StateDirectory, to: StateDirectory, epoch: string): void {
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
