import { existsSync, lstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { QueueError } from '../../core/errors.ts';

export interface Unsafe {
  says: string;
  fix: string;
}

const ROOT = 0;
const STICKY = 0o1000;
/** What SQLite reads beside the file by its name alone, whoever put it there. */
const BESIDE = ['-journal', '-wal', '-shm'];
const MOVE_AWAY = 'somebody else put it there: move it away';

/**
 * What of the store asked for by this path is not safe to use, as ssh judges its keys: jobs are commands, so whoever else may
 * write one of its files, or put another in its place, may run anything as us. Only looks; what is not there yet is safe.
 */
export function unsafeParts(asked: string): Unsafe[] {
  const uid = process.getuid?.();
  if (uid === undefined) return [];
  const path = existsSync(asked) ? realpathSync(asked) : asked;
  const found = [...new Set([dirname(asked), dirname(path)])].map((one) => unsafeDirectory(one, uid));
  for (const one of new Set([asked, path, `${path}.d`, `${path}.d/attempts`]))
    found.push(unsafePlace(one, uid));
  for (const end of BESIDE) found.push(unsafePlace(path + end, uid, MOVE_AWAY));
  return found.filter((one) => one !== null);
}

/** `anyOwner`: somebody has said that it is meant to be so. */
export function refuseUnsafe(asked: string, anyOwner: boolean): void {
  if (anyOwner) return;
  const [unsafe] = unsafeParts(asked);
  if (unsafe !== undefined) throw new QueueError('not-permitted', unsafe.says, unsafe.fix);
}

/** The same for who only looks, at anybody's store: what stands beside the file must be of its owner, or ours. */
export function refuseForeignBeside(path: string): void {
  const uid = process.getuid?.();
  if (uid === undefined) return;
  const owner = statSync(path).uid;
  for (const end of BESIDE) {
    const stat = lstatSync(path + end, { throwIfNoEntry: false });
    if (stat === undefined || [owner, uid, ROOT].includes(stat.uid)) continue;
    const { says, fix } = foreign(path + end, stat, uid, MOVE_AWAY);
    throw new QueueError('not-permitted', says, fix);
  }
}

/** A link counts with what it leads to, if anything; one of root's may lead anywhere. */
function unsafePlace(path: string, uid: number, fix?: string): Unsafe | null {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link === undefined) return null;
  const target = statSync(path, { throwIfNoEntry: false });
  if (link.uid !== uid && link.uid !== ROOT) return foreign(path, link, uid, fix);
  // A link has a mode that says nothing.
  if (target === undefined) return null;
  if (target.uid !== uid) return foreign(path, target, uid, fix);
  return (target.mode & 0o022) === 0 ? null : open(path, target);
}

/** Root's will do. In a sticky one, such as /tmp, others can add files, but take none of ours away: those are looked at. */
function unsafeDirectory(path: string, uid: number): Unsafe | null {
  const link = lstatSync(path, { throwIfNoEntry: false });
  if (link === undefined) return null;
  const target = statSync(path, { throwIfNoEntry: false }) ?? link;
  const stranger = [link, target].find((one) => one.uid !== uid && one.uid !== ROOT);
  if (stranger !== undefined) return foreign(path, stranger, uid);
  return (target.mode & 0o022) === 0 || (target.mode & STICKY) !== 0 ? null : open(path, target);
}

function foreign(path: string, { uid: owner }: Stats, uid: number, fix?: string): Unsafe {
  return {
    says: `${path} belongs to user ${owner}, and this is user ${uid}`,
    fix: fix ?? `run it as its owner (sudo -u '#${owner}' queuectl …), or set QUEUECTL_ANY_OWNER=1`,
  };
}

function open(path: string, stat: Stats): Unsafe {
  return { says: `${path} can be written by others (mode ${modeOf(stat)})`, fix: `chmod go-w ${path}` };
}

export function modeOf(stat: Stats): string {
  return (stat.mode & 0o7777).toString(8).padStart(4, '0');
}
