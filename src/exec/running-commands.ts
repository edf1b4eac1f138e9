import { namesIn } from '../files/names-in.ts';
import { cookieMatches, nameIn } from '../state/cookie.ts';
import { attemptsAmong, attemptsIn } from '../state/kept-output.ts';
import { cookieFor } from '../state/key.ts';
import { attemptOf, type Place, placeOf, removePlace } from '../state/place.ts';
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

/** Returns a command that may be running, of an attempt that has a directory and is not named in `known`, or null if there is none. */
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

/** Returns the places of all attempts that have a directory. */
export function placesIn(state: StateDirectory): Place[] {
  return namesIn(state.attempts).flatMap((name) => {
    const found = attemptOf(name);
    return found === null ? [] : [placeOf(state, found.epoch, found.attempt)];
  });
}

/** Returns the highest number of an epoch's attempts that have a directory or a process, or 0 if there is none. */
export function lastAttemptIn(state: StateDirectory, epoch: string): number {
  const running = attemptsAmong([...(carriedNames(state) ?? [])], epoch);
  return [...attemptsIn(state, epoch), ...running]
    .filter((one) => one <= MAX_ATTEMPT_NUMBER)
    .reduce((last, one) => Math.max(last, one), 0);
}

/** Removes the seal and the attempt directories of an epoch whose store is gone, except those of attempts known to have a process. */
export function removeAttemptDirectories(state: StateDirectory, epoch: string): void {
  removeSeal(state, epoch);
  const attempts = attemptsIn(state, epoch);
  if (attempts.length === 0) return;
  const carried = carriedNames(state);
  for (const attempt of attempts) {
    const place = placeOf(state, epoch, attempt);
    if (!carried?.has(place.name)) removePlace(place);
  }
}
