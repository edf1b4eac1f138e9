import { namesIn } from '../files/names-in.ts';
import { isCookieOf, nameIn } from '../state/cookie.ts';
import { attemptsAmong, attemptsIn } from '../state/kept-output.ts';
import { cookieFor } from '../state/key.ts';
import { attemptOf, type Place, placeOf, removePlace } from '../state/place.ts';
import { readRecord } from '../state/record.ts';
import { removeSeal } from '../state/seal.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { targetOf } from './kill.ts';
import { isOutOfSight } from './lifeline.ts';
import { processes } from './processes.ts';

/** A store with a thousand attempts per second takes 30 years to reach this number. */
const HIGHEST = 1e12;

/** A command that runs without a worker: one of its processes, or none that can be seen from here. */
export interface Living {
  process: { pid: number; group: number } | null;
}

/** Returns what still runs of an attempt, whether or not it has a record; null: nothing. */
export function livingOf(place: Place): Living | null {
  const [one] = processes.find(targetOf(place));
  if (one !== undefined) return { process: one };
  return isOutOfSight(place) ? { process: null } : null;
}

/** Returns what still runs of any attempt that has a directory there, except `known` ones and those whose command has ended. */
export function livingIn(state: StateDirectory, known: ReadonlySet<string>): Living | null {
  const carried = carriedNames(state);
  for (const place of placesIn(state)) {
    if (known.has(place.name)) continue;
    const record = readRecord(place);
    const isCarried = carried?.has(place.name);
    // There may be thousands, so few of them may cost a scan of all processes.
    const over = record?.kind === 'ended' || record?.kind === 'gated';
    if (over && (isCarried !== true || processes.frameOf(place.cookie) === null)) continue;
    if (record?.kind !== 'running' && isCarried === false) continue;
    const living = livingOf(place);
    if (living !== null) return living;
  }
  return null;
}

/** Returns the names of the attempts whose cookie a process carries; null: the system does not tell. */
function carriedNames(state: StateDirectory): Set<string> | null {
  const carriers = processes.carriers();
  if (carriers === null) return null;
  const names = new Set<string>();
  for (const { cookie, own } of carriers) {
    const name = nameIn(cookie);
    if (isCookieOf(cookie, cookieFor(state, name), () => own)) names.add(name);
  }
  return names;
}

/** Returns every attempt that has a directory there. */
export function placesIn(state: StateDirectory): Place[] {
  return namesIn(state.attempts).flatMap((name) => {
    const found = attemptOf(name);
    return found === null ? [] : [placeOf(state, found.epoch, found.attempt)];
  });
}

/** Returns the highest attempt that left a directory or a process; 0: there is none. Above HIGHEST is somebody's mistake. */
export function lastAttemptIn(state: StateDirectory, epoch: string): number {
  const living = attemptsAmong([...(carriedNames(state) ?? [])], epoch);
  return [...attemptsIn(state, epoch), ...living]
    .filter((one) => one <= HIGHEST)
    .reduce((last, one) => Math.max(last, one), 0);
}

/** Removes the outputs of an epoch whose store is gone, but not those of a command that still runs and writes there. */
export function removeOutputs(state: StateDirectory, epoch: string): void {
  removeSeal(state, epoch);
  const attempts = attemptsIn(state, epoch);
  if (attempts.length === 0) return;
  const carried = carriedNames(state);
  for (const attempt of attempts) {
    const place = placeOf(state, epoch, attempt);
    if (!carried?.has(place.name)) removePlace(place);
  }
}
