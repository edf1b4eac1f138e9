import { lstatSync } from 'node:fs';
import {
  type AttemptFiles,
  allAttemptFiles,
  attemptFiles,
  attemptsAmong,
  attemptsIn,
  removeFiles,
} from '../state/attempt-files.ts';
import { cookieFor, cookieMatches, nameIn } from '../state/key.ts';
import { readRecord } from '../state/record.ts';
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
export function runningCommandOf(files: AttemptFiles): RunningCommand | null {
  const [one] = processes.find(targetOf(files));
  if (one !== undefined) return { process: one };
  return isOutOfSight(files) ? { process: null } : null;
}

/** Returns a command that may be running, of an attempt that has files and is not named in `known`, or null if there is none. */
export function runningCommandIn(state: StateDirectory, known: ReadonlySet<string>): RunningCommand | null {
  const carried = carriedNames(state);
  for (const files of allAttemptFiles(state)) {
    if (known.has(files.name)) continue;
    const record = readRecord(files);
    const isCarried = carried?.has(files.name);
    // `runningCommandOf` scans all processes. There may be thousands of attempts, so those that cannot be running are skipped.
    const isOver = record?.kind === 'ended' || record?.kind === 'gated';
    if (isOver && (isCarried !== true || processes.frameOf(files.cookie) === null)) continue;
    if (record?.kind !== 'running' && isCarried === false) continue;
    const found = runningCommandOf(files);
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

/**
 * Returns the files of the attempts whose command runs or may still start. Leaves out what a successful command left running. Skips
 * the attempts in `over`, unless a process carries their cookie, and adds those to it that are over for good.
 */
export function unfinishedAttempts(state: StateDirectory, over: Set<string>): AttemptFiles[] {
  const carried = carriedNames(state);
  return allAttemptFiles(state).filter((files) => {
    const isCarried = carried === null ? null : carried.has(files.name);
    if (isCarried !== true && over.has(files.name)) return false;
    const isUnfinished = mayRun(files, isCarried);
    if (!isUnfinished && isCarried !== true) over.add(files.name);
    return isUnfinished;
  });
}

/** Tells whether a command runs or may still start. `isCarried` tells whether a process carries its cookie, or is null if that is unknown. */
function mayRun(files: AttemptFiles, isCarried: boolean | null): boolean {
  const record = readRecord(files);
  if (isCarried === true)
    return !(record?.kind === 'ended' && record.code === 0) || processes.frameOf(files.cookie) !== null;
  switch (record?.kind) {
    case undefined:
      // The output is created before the command starts. Imported output also has no record, but is never empty.
      return lstatSync(files.output, { throwIfNoEntry: false })?.size === 0;
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
 * Removes the attempts of an epoch whose store is gone. Keeps the files of attempts that still have a process, if the system can
 * tell.
 */
export function removeAttempts(state: StateDirectory, epoch: string): void {
  const attempts = attemptsIn(state, epoch);
  if (attempts.length === 0) return;
  const carried = carriedNames(state);
  for (const attempt of attempts) {
    const files = attemptFiles(state, epoch, attempt);
    if (!carried?.has(files.name)) removeFiles(files);
  }
}
