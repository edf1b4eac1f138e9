import { lstatSync, type Stats, statSync } from 'node:fs';
import { QueueError } from '../../core/errors.ts';

export interface Unsafe {
  says: string;
  fix: string;
}

/**
 * Why this file or directory is not safe to use, as ssh judges its keys: jobs are commands, so whoever else may write here
 * may run anything as us. A link counts with what it leads to. Null: safe, or not there.
 */
export function unsafePlace(path: string): Unsafe | null {
  const uid = process.getuid?.();
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (uid === undefined || link === undefined) return null;
  const target = statSync(path, { throwIfNoEntry: false }) ?? link;
  const stranger = [link, target].find((one) => one.uid !== uid);
  if (stranger !== undefined) {
    return {
      says: `${path} belongs to user ${stranger.uid}, and this is user ${uid}`,
      fix: `run it as its owner (sudo -u '#${stranger.uid}' queuectl …), or set QUEUECTL_ANY_OWNER=1`,
    };
  }
  return writableByOthers(target)
    ? { says: `${path} can be written by others (mode ${modeOf(target)})`, fix: `chmod go-w ${path}` }
    : null;
}

/** The database and its state directory. `anyOwner`: somebody has said that it is meant to be so. */
export function refuseUnsafe(path: string, anyOwner: boolean): void {
  if (anyOwner) return;
  for (const one of [path, `${path}.d`, `${path}.d/attempts`]) {
    const unsafe = unsafePlace(one);
    if (unsafe !== null) throw new QueueError('not-permitted', unsafe.says, unsafe.fix);
  }
}

function writableByOthers(stat: Stats): boolean {
  return (stat.mode & 0o022) !== 0;
}

export function modeOf(stat: Stats): string {
  return (stat.mode & 0o7777).toString(8).padStart(4, '0');
}
