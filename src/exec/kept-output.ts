import { chmodSync, constants, copyFileSync, lstatSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { namesIn } from '../files/names-in.ts';
import { carriedNames } from './living.ts';
import { attemptOf, placeOf, removePlace } from './place.ts';
import { removeSeal } from './seal.ts';

/** A thousand attempts a second take 30 years to get there. */
const HIGHEST = 1e12;

/** The attempts of an epoch that have a directory there. */
export function attemptsIn(stateDirectory: string, epoch: string): number[] {
  return attemptsAmong(namesIn(join(stateDirectory, 'attempts')), epoch);
}

function attemptsAmong(names: string[], epoch: string): number[] {
  return names.flatMap((name) => {
    const found = attemptOf(name);
    return found?.epoch === epoch ? [found.attempt] : [];
  });
}

/**
 * Returns the highest attempt that left a directory, or a process that still runs; 0: there is none. A number above
 * HIGHEST is somebody's mistake: whoever went on from there would soon have no numbers left.
 */
export function lastAttemptIn(stateDirectory: string, epoch: string): number {
  const living = attemptsAmong([...(carriedNames(stateDirectory) ?? [])], epoch);
  return [...attemptsIn(stateDirectory, epoch), ...living]
    .filter((one) => one <= HIGHEST)
    .reduce((last, one) => Math.max(last, one), 0);
}

/**
 * Copies what an attempt wrote, both streams with their gaps; not its record, which belongs to the attempt itself. Nothing
 * that is there is written to, and no link followed: `to` is named by a new epoch.
 */
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

/** To another state directory, all that is left of the attempts of an epoch. */
export function moveOutputs(from: string, to: string, epoch: string): void {
  // The store may come back to a place that its attempts have left.
  removeSeal(from, epoch);
  for (const attempt of attemptsIn(from, epoch)) {
    const name = join('attempts', `${epoch}-${attempt}`);
    crashPoint('before-move-output');
    mkdirSync(join(to, 'attempts'), { recursive: true, mode: 0o700 });
    crashPoint('in-move-output');
    renameSync(join(from, name), join(to, name));
    crashPoint('after-move-output');
  }
}

/** Of an epoch whose store is gone; not those of a command that still runs, which writes there. */
export function removeOutputs(stateDirectory: string, epoch: string): void {
  removeSeal(stateDirectory, epoch);
  const attempts = attemptsIn(stateDirectory, epoch);
  if (attempts.length === 0) return;
  const carried = carriedNames(stateDirectory);
  for (const attempt of attempts) {
    const place = placeOf(stateDirectory, epoch, attempt);
    if (!carried?.has(place.name)) removePlace(place);
  }
}

/** The epoch that the directories of attempts are named by, most of them; null: there are none. */
export function epochOf(stateDirectory: string): string | null {
  const counts = new Map<string, number>();
  for (const name of namesIn(join(stateDirectory, 'attempts'))) {
    const epoch = attemptOf(name)?.epoch;
    if (epoch !== undefined) counts.set(epoch, (counts.get(epoch) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null;
}
