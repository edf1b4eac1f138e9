import { execFile } from 'node:child_process';
import { closeSync, constants, lstatSync, mkdirSync, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { crashPoint } from '../core/crash-point.ts';
import { namesIn } from '../files/names-in.ts';
import type { Place } from '../state/place.ts';
import { type AttemptRecord, readRecord } from '../state/record.ts';
import type { StateDirectory } from '../state/state-directory.ts';
import { processes } from './processes.ts';

/**
 * A named pipe whose reading end is held by a worker and by every frame it started, and by nothing else. A process table
 * shows only the processes of its own pid namespace; whether a pipe is held is seen from all of them.
 */
export interface Lifeline {
  /** The pid namespace and the worker. It stands in the record of every attempt that holds it. */
  name: string;
  file: number;
}

/** Its worker may not have opened it yet. */
const YOUNG_MS = 60_000;
const make = promisify(execFile);

/** Null where there are no pid namespaces, or no room for one: then attempts are only judged by the process table. */
export async function makeLifeline(state: StateDirectory, workerId: string): Promise<Lifeline | null> {
  const namespace = ownNamespace();
  if (namespace === null) return null;
  const name = `${namespace}-${workerId}`;
  const path = join(state.lifelines, name);
  try {
    crashPoint('before-lifeline');
    mkdirSync(state.lifelines, { recursive: true, mode: 0o700 });
    crashPoint('in-lifeline');
    await make('mkfifo', ['-m', '600', path]);
    crashPoint('after-lifeline');
    return { name, file: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) };
  } catch {
    return null;
  }
}

/** Did this attempt start in a pid namespace that is not ours? */
export function isForeign(record: AttemptRecord | null): boolean {
  if (record?.kind !== 'running' || record.lifeline === null) return false;
  return record.lifeline.split('-')[0] !== ownNamespace();
}

/** May the attempt live where we cannot look? What is over has let go of its lifeline. */
export function isOutOfSight(place: Place): boolean {
  const record = readRecord(place);
  if (record?.kind !== 'running' || record.lifeline === null || !isForeign(record)) return false;
  // Of a namespace inside ours we see everything, as long as there is anything.
  if (processes.find(place.cookie, -1).length > 0) return false;
  return isHeld(join(place.state.lifelines, record.lifeline)); // fault-control: foreign-lifeline
}

/** Removes those that nobody holds any more. */
export function sweepLifelines({ lifelines }: StateDirectory, now: number): void {
  for (const name of namesIn(lifelines)) {
    const path = join(lifelines, name);
    try {
      if (Math.abs(now - lstatSync(path).mtimeMs) < YOUNG_MS || isHeld(path)) continue;
      crashPoint('before-sweep-lifeline');
      unlinkSync(path);
    } catch {
      // Another sweep was first, or it is not ours to look at.
    }
  }
}

/** Opening a pipe to write fails when nobody has it open to read. */
function isHeld(path: string): boolean {
  try {
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    // One that is gone was swept: nobody held it.
    const { code } = error as NodeJS.ErrnoException;
    return code !== 'ENXIO' && code !== 'ENOENT';
  }
}

function ownNamespace(): string | null {
  return /\d+/.exec(processes.pidNamespace())?.[0] ?? null;
}
