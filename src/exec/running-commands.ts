import { lstatSync } from 'node:fs';
import { cookieMatches, nameIn } from '../state/cookie.ts';
import { attemptsAmong, attemptsIn } from '../state/kept-output.ts';
import { cookieFor } from '../state/key.ts';
import { attemptOf, namesByAttempt, type Place, placeOf, removePlace } from '../state/place.ts';
import { readRecord } from '../state/record.ts';
import { removeSeal } from '../state/seal.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { targetOf } from './kill.ts';
import { isOutOfSight } from './lifeline.ts';
import { processes } from './processes.ts';

/** Higher attempt numbers are ignored as mistakes. A store with 1,000 attempts per second takes 30 years to reach this one. */
const MAX_ATTEMPT_NUMBER = 1e12;

/** A command that may be running. `process` is one of its processes, or null if none is visible in this pid namespace. */
export interface RunningCommand {
  process: { pid: number; group: number } | null;
}

/** Returns the command of an attempt if it may be running, whether or not the attempt has a record. Otherwise returns null. */
export function runningCommandOf(place: Place): RunningCommand | null {
  const [one] = processes.find(targetOf(place));
  if (one !== undefined) return { process: one };
  return isOutOfSight(place) ? { process: null } : null;
}

/** Returns a command that may be running, of an attempt that has files and is not named in `known`, or null if there is none. */
export function runningCommandIn(state: StateDirectory, known: ReadonlySet<string>): RunningCommand | null {
  const carried = carriedNames(state);
  for (const place of placesIn(state)) {
    if (known.has(place.name)) continue;
    const record = readRecord(place);
    const isCarried = carried?.has(place.name);
    // `runningCommandOf` scans all processes. There may be thousands of attempts, so those that cannot be running are skipped.
    const isOver = record?.kind === 'ended' || record?.kind === 'gated';
    if (isOver && (isCarried !== true || processes.frameOf(place.cookie) === null)) continue;
    if (record?.kind !== 'running' && isCarried === false) continue;
    const found = runningCommandOf(place);
    if (found !== null) return found;
  }
  return null;
}

/** Returns the names of the attempts whose cookie a process carries, or null if the system does not tell. */
function carriedNames(state: StateDirectory): Set<string> | null {
  const carriers = processes.carriers();
  if (carriers === null) return null;
  const names = new Set<string>();
  for (const { cookie, own } of carriers) {
    const name = nameIn(cookie);
    if (cookieMatches(cookie, cookieFor(state, name), () => own)) names.add(name);
  }
  return names;
}

/** Returns the places of all attempts that have files. */
export function placesIn(state: StateDirectory): Place[] {
  return [...namesByAttempt(state).keys()].map((name) => {
    const { epoch, attempt } = attemptOf(name)!;
    return placeOf(state, epoch, attempt);
  });
}

/**
 * Returns the places of the attempts whose command runs or may still start. Leaves out what a successful command left running. Skips
 * the attempts in `over`, unless a process carries their cookie, and adds those to it that are over for good.
 */
export function unfinishedPlaces(state: StateDirectory, over: Set<string>): Place[] {
  const carried = carriedNames(state);
  return placesIn(state).filter((place) => {
    const isCarried = carried === null ? null : carried.has(place.name);
    if (isCarried !== true && over.has(place.name)) return false;
    const isUnfinished = mayRun(place, isCarried);
    if (!isUnfinished && isCarried !== true) over.add(place.name);
    return isUnfinished;
  });
}

/** Tells whether a command runs or may still start. `isCarried` tells whether a process carries its cookie, or is null if that is unknown. */
function mayRun(place: Place, isCarried: boolean | null): boolean {
  const record = readRecord(place);
  if (isCarried === true)
    return !(record?.kind === 'ended' && record.code === 0) || processes.frameOf(place.cookie) !== null;
  switch (record?.kind) {
    case undefined:
      // The output is created before the command starts. Imported output also has no record, but is never empty.
      return lstatSync(place.output, { throwIfNoEntry: false })?.size === 0;
    case 'running':
    case 'empty':
      return true;
    case 'unreadable':
      return isCarried === null;
    case 'ended':
    case 'gated':
      return false;
  }
}

/** Returns the highest number of an epoch's attempts that have files or a process, or 0 if there is none. */
export function lastAttemptIn(state: StateDirectory, epoch: string): number {
  const running = attemptsAmong([...(carriedNames(state) ?? [])], epoch);
  return [...attemptsIn(state, epoch), ...running]
    .filter((one) => one <= MAX_ATTEMPT_NUMBER)
    .reduce((last, one) => Math.max(last, one), 0);
}

/**
 * Removes the seal and the attempts of an epoch whose store is gone. Keeps the files of attempts that still have a process, if
 * the system can tell.
 */
export function removeAttempts(state: StateDirectory, epoch: string): void {
  removeSeal(state, epoch);
  const attempts = attemptsIn(state, epoch);
  if (attempts.length === 0) return;
  const carried = carriedNames(state);
  for (const attempt of attempts) {
    const place = placeOf(state, epoch, attempt);
    if (!carried?.has(place.name)) removePlace(place);
  }
}
