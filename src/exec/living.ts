import { join } from 'node:path';
import { namesIn } from '../files/names-in.ts';
import { isCookieOf, nameIn } from './cookie.ts';
import { cookieFor } from './key.ts';
import { isOutOfSight } from './lifeline.ts';
import { attemptOf, type Place, placeOf } from './place.ts';
import { processes } from './processes.ts';
import { readRecord } from './record.ts';

/** A command that runs without a worker: one of its processes, or none that can be seen from here. */
export interface Living {
  process: { pid: number; group: number } | null;
}

/** What still runs of an attempt, whether or not its record is there; null: nothing. */
export function livingOf(place: Place): Living | null {
  const record = readRecord(place);
  // Where cookies cannot be read, the frame is known by its pid.
  const group = record?.kind === 'running' ? record.pid : -1;
  const [one] = processes.find(place.cookie, group);
  if (one !== undefined) return { process: one };
  return isOutOfSight(place) ? { process: null } : null;
}

/** The same of all attempts that have a directory there, of whatever store, but `known`; not of those whose command has ended. */
export function livingIn(stateDirectory: string, known: ReadonlySet<string>): Living | null {
  const carried = carriedNames(stateDirectory);
  for (const place of placesIn(stateDirectory)) {
    if (known.has(place.name)) continue;
    const record = readRecord(place);
    const isCarried = carried?.has(place.name);
    // There may be thousands: only few are worth a look at all processes.
    const over = record?.kind === 'ended' || record?.kind === 'gated';
    if (over && (isCarried !== true || processes.frameOf(place.cookie) === null)) continue;
    if (record?.kind !== 'running' && isCarried === false) continue;
    const living = livingOf(place);
    if (living !== null) return living;
  }
  return null;
}

/** Returns the names of the attempts there that a process carries the cookie of; null: the system does not tell. */
export function carriedNames(stateDirectory: string): Set<string> | null {
  const carriers = processes.carriers();
  if (carriers === null) return null;
  const names = new Set<string>();
  for (const { cookie, own } of carriers) {
    const name = nameIn(cookie);
    if (isCookieOf(cookie, cookieFor(stateDirectory, name), () => own)) names.add(name);
  }
  return names;
}

/** Every attempt that has a directory there. */
export function placesIn(stateDirectory: string): Place[] {
  return namesIn(join(stateDirectory, 'attempts')).flatMap((name) => {
    const found = attemptOf(name);
    return found === null ? [] : [placeOf(stateDirectory, found.epoch, found.attempt)];
  });
}
