import {
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import type { StateDirectory } from '../state/state-directory.ts';

/** A log that has grown beyond this is moved to `<log>.1`, in place of the one before. */
const LIMIT = 10 * 1024 * 1024;
const LOOK_MS = 5000;
/** Logs of supervisors that have ended: this many are kept, the newest. */
const KEPT = 10;
const NAME = /^worker-([0-9a-f]{12})\.log$/;

/** The log of detached workers. */
export function logFile({ logs }: StateDirectory, supervisor: string): string {
  return join(logs, `worker-${supervisor}.log`);
}

/** Creates the log of detached workers, and opens it to append. Removes old logs; those of `living` supervisors stay. */
export function createLog(state: StateDirectory, supervisor: string, living: string[]): number {
  mkdirSync(state.logs, { recursive: true, mode: 0o700 });
  removeOld(state.logs, living);
  return openSync(logFile(state, supervisor), 'ax', 0o600);
}

function removeOld(directory: string, living: string[]): void {
  const ended = readdirSync(directory).flatMap((name) => {
    const supervisor = NAME.exec(name)?.[1];
    if (supervisor === undefined || living.includes(supervisor)) return [];
    const path = join(directory, name);
    return [{ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }];
  });
  for (const { path } of ended.sort((a, b) => b.at - a.at).slice(KEPT)) {
    for (const file of [path, `${path}.1`]) rmSync(file, { force: true });
  }
}

/** Keeps a growing log within its bounds for as long as this program runs. */
export function keepLogShort(file: string): void {
  const look = (): void => {
    try {
      if (statSync(file).size > LIMIT) rotate(file);
    } catch {
      // On a full disk the log does not grow either: the next look tries again.
    }
  };
  setInterval(look, LOOK_MS).unref();
}

/**
 * Copies the log and empties it. A rename would not do: supervisor and workers share one open file. They append, so they
 * go on at its new end. A line written between the copy and the emptying is lost.
 */
function rotate(file: string): void {
  const draft = `${file}.new`;
  try {
    copyFileSync(file, draft);
    renameSync(draft, `${file}.1`);
    const log = openSync(file, 'r+');
    ftruncateSync(log);
    closeSync(log);
  } finally {
    if (existsSync(draft)) rmSync(draft, { force: true });
  }
}
