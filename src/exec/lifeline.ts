import { execFile } from 'node:child_process';
import {
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  statSync,
  unlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crashPoint, inSteps } from '../core/crash-point.ts';
import { orNull } from '../core/text/language.ts';
import { namesIn } from '../files/read.ts';
import type { AttemptFiles } from '../state/attempt-files.ts';
import { type AttemptRecord, readRecord } from '../state/record.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { leaseClock } from './lease-clock.ts';
import { NO_GROUP, processes } from './processes.ts';

/** A named pipe that a worker and its frames hold open. Workers in other pid namespaces can see that, but not those processes. */
export interface Lifeline {
  /** Consists of the pid namespace and the id of the worker. The record of an attempt that holds the lifeline contains the name. */
  name: string;
  fd: number;
}

/** A lifeline younger than this is not removed, because its worker may not have opened it yet. */
const MIN_AGE_MS = 60_000;
const execute = promisify(execFile);

/** Makes a lifeline. Returns null if that fails, or if there are no pid namespaces. Then other workers have only the process table. */
export async function makeLifeline(state: StateDirectory, workerId: string): Promise<Lifeline | null> {
  const namespace = ownNamespace();
  if (namespace === null) return null;
  const name = `${namespace}-${workerId}`;
  const path = join(state.lifelines, name);
  try {
    await makePipe(state, path);
    return { name, fd: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) };
  } catch {
    return null;
  }
}

/** Creates a named pipe in the directory of lifelines. */
async function makePipe({ lifelines }: StateDirectory, path: string): Promise<void> {
  crashPoint('before-lifeline');
  mkdirSync(lifelines, { recursive: true, mode: 0o700 });
  crashPoint('in-lifeline');
  await execute('mkfifo', ['-m', '600', path]);
  crashPoint('after-lifeline');
}

/** Tells whether the record shows a running command whose lifeline is of another pid namespace. */
export function runsInOtherNamespace(record: AttemptRecord | null): boolean {
  if (record?.kind !== 'running' || record.lifeline === null) return false;
  return record.lifeline.split('-')[0] !== ownNamespace();
}

/** Tells whether an attempt may be alive in a pid namespace that we cannot see. A finished attempt holds no lifeline. */
export function isOutOfSight(files: AttemptFiles): boolean {
  const record = readRecord(files);
  if (record?.kind !== 'running' || record.lifeline === null || !runsInOtherNamespace(record)) return false;
  // The processes of a namespace inside ours are visible here.
  if (processes.find({ cookie: files.cookie, group: NO_GROUP }).length > 0) return false;
  return isHeld(join(files.state.lifelines, record.lifeline)); // fault-control: foreign-lifeline
}

/** Removes the lifelines that no process holds any more, except young ones. */
export function sweepLifelines({ lifelines }: StateDirectory, now: number): void {
  for (const name of namesIn(lifelines)) {
    const path = join(lifelines, name);
    try {
      if (Math.abs(now - lstatSync(path).mtimeMs) < MIN_AGE_MS || isHeld(path)) continue;
      inSteps('sweep-lifeline', () => unlinkSync(path));
    } catch {
      // Another sweep removed it first, or it belongs to another user.
    }
  }
}

/** Tells whether a process has a pipe open for reading, or may have. If none has, opening the pipe for writing fails with ENXIO. */
export function isHeld(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    // A missing pipe was removed by a sweep, because no process held it.
    const { code } = error as NodeJS.ErrnoException;
    return code !== 'ENXIO' && code !== 'ENOENT';
  }
}

/** Returns the number of this pid namespace, or null if the system has no pid namespaces. */
function ownNamespace(): string | null {
  return /\d+/.exec(processes.pidNamespace())?.[0] ?? null;
}

const PREFIX = 'guard-';

/**
 * Returns the path of a named pipe that a guard keeps open for reading, and its supervisor and workers for writing. Nothing is
 * written. A worker can tell that the guard is alive, and the guard reads the end of the pipe when all the others are gone. The
 * modification time of the pipe shows when the guard last looked at the lease, by the lease clock.
 */
export function guardLine({ lifelines }: StateDirectory, supervisor: string): string {
  return join(lifelines, `${PREFIX}${ownNamespace() ?? 'none'}-${supervisor}`);
}

/** Creates the pipe, if it is missing, and opens the guard's end. Until the guard looks at the lease, others do not rely on it. */
export async function openGuardEnd(state: StateDirectory, line: string): Promise<number> {
  for (;;) {
    try {
      const end = openSync(line, constants.O_RDONLY | constants.O_NONBLOCK);
      utimesSync(line, 0, 0);
      return end;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      await makePipe(state, line);
    }
  }
}

/** Opens the end of a supervisor or worker. Returns null if no guard has the pipe open. */
export function holdGuardLine(line: string): number | null {
  return orNull(() => openSync(line, constants.O_WRONLY | constants.O_NONBLOCK));
}

/** Closes an end of the pipe that may not be open. */
export function releaseGuardLine(end: number | null): void {
  if (end !== null) closeSync(end);
}

/** Notes in the pipe that its guard has looked at the lease now. This needs no space on a disk. */
export function noteLook(line: string): void {
  // If the pipe was removed, no worker finds a guard, and another guard is started.
  orNull(() => utimesSync(line, leaseClock() / 1000, leaseClock() / 1000));
}

/** Removes the pipe of a guard whose supervisor and workers are gone, so that other guards do not rely on this one. */
export function removeGuardLine(line: string): void {
  orNull(() => unlinkSync(line));
}

/** Tells whether another guard, whose supervisor or workers are alive, has looked at the lease after this time. */
export function hasOtherGuard(state: StateDirectory, line: string, after: number): boolean {
  const prefix = guardLine(state, '');
  return namesIn(state.lifelines)
    .map((name) => join(state.lifelines, name))
    .some(
      (path) =>
        path.startsWith(prefix) &&
        path !== line &&
        isHeld(path) &&
        (orNull(() => statSync(path).mtimeMs) ?? 0) > after,
    );
}
