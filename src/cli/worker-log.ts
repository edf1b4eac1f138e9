import {
  copyFileSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { join } from 'node:path';
import type { StateDirectory } from '../state/state-directory.ts';

/** A log with more bytes than this is copied to `<log>.1` and emptied. */
const MAX_LOG_BYTES = 10 * 1024 * 1024;
const CHECK_MS = 5000;
/** The number of logs of ended supervisors that are kept, newest first. */
const KEPT_LOGS = 10;
const LOG_NAME = /^worker-([0-9a-f]{12})\.log$/;

/** Returns the path of the log of detached workers. */
export function logPath({ logs }: StateDirectory, supervisor: string): string {
  return join(logs, `worker-${supervisor}.log`);
}

/** Creates and opens the log of detached workers. Removes the oldest logs of supervisors that are not in `active`. */
export function createLog(state: StateDirectory, supervisor: string, active: string[]): number {
  mkdirSync(state.logs, { recursive: true, mode: 0o700 });
  removeOldLogs(state.logs, active);
  return openSync(logPath(state, supervisor), 'ax', 0o600);
}

function removeOldLogs(directory: string, active: string[]): void {
  const ended = readdirSync(directory).flatMap((name) => {
    const supervisor = LOG_NAME.exec(name)?.[1];
    if (supervisor === undefined || active.includes(supervisor)) return [];
    const path = join(directory, name);
    return [{ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }];
  });
  for (const { path } of ended.sort((a, b) => b.at - a.at).slice(KEPT_LOGS)) {
    for (const file of [path, `${path}.1`]) rmSync(file, { force: true });
  }
}

/** Checks the size of a log regularly while this program runs, and rotates it if it is too long. */
export function keepLogShort(file: string): void {
  const check = (): void => {
    try {
      if (statSync(file).size > MAX_LOG_BYTES) rotate(file);
    } catch {
      // The disk may be full, but then the log does not grow either. The next check tries again.
    }
  };
  setInterval(check, CHECK_MS).unref();
}

/**
 * Copies the log and empties it. A rename would not work, because the supervisor and its workers share one open file.
 * They append, so they continue at its new end. A line written between the copy and the emptying is lost.
 */
function rotate(file: string): void {
  const draft = `${file}.new`;
  try {
    copyFileSync(file, draft);
    renameSync(draft, `${file}.1`);
    truncateSync(file);
  } finally {
    rmSync(draft, { force: true });
  }
}
