import { lstatSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { QueueError } from '../../../core/errors.ts';
import { orNull } from '../../../core/text/language.ts';
import { shellWord } from '../../../core/text/shell-quote.ts';
import type { PostgresLocation } from './location.ts';

/** A group may write to the directory of a socket, as it may on Debian. */
const WORLD_WRITES = 0o002;
const STICKY = 0o1000;
const ROOT_UID = 0;

/**
 * Throws if the socket of a server may belong to another user, who would get the password and whose jobs would run as this user. It
 * is checked before connecting, before the password is sent and before the first statement. The result changes if the socket was
 * replaced in between. It is null for TCP.
 */
export function checkSocketOwner(location: PostgresLocation): string | null {
  const path = `${location.host}/.s.PGSQL.${location.port}`;
  const uid = process.getuid?.();
  if (!path.startsWith('/') || uid === undefined) return null;
  const { link, socket } = findSocket(path);
  const named = uidOf(location.socketOwner ?? 'postgres');
  const trusted = [uid, uidOf('postgres'), named];
  const steps = unsafeSteps(path, trusted);
  // Only the socket itself shows who runs the server.
  if (location.socketOwner !== null && socket.uid !== named)
    steps.push({ path, stat: socket, isForeign: true });
  for (const { path: one, stat, isForeign } of steps)
    throw isForeign
      ? unsafe(
          `${one} belongs to user ${stat.uid}, so the server of ${location.name} may not be yours`,
          `check who runs it. If you trust this user with your jobs: add requirepeer=${stat.uid} to the URL`,
        )
      : unsafe(`other users can replace files in ${one}`, `to prevent this: chmod +t ${shellWord(one)}`);
  return JSON.stringify([link, socket].map(({ ino, ctimeMs }) => [ino, ctimeMs]));
}

/** A directory or link through which another user could replace the socket. It belongs to that user, or that user may write to it. */
interface UnsafeStep {
  path: string;
  stat: Stats;
  isForeign: boolean;
}

/**
 * Returns what is not safe on the way to an absolute path, and to the target of every link on it. If nothing is, only the trusted
 * users and root can change where the path leads, now and when the process connects again. Others cannot replace files of these
 * users in a sticky directory, such as /tmp.
 */
function unsafeSteps(path: string, trusted: readonly number[]): UnsafeStep[] {
  // The owner of `/` can replace everything. In a user namespace, this may be root under another id.
  const owners = [...trusted, ROOT_UID, statSync('/').uid];
  return [...stepsTo(path)].flatMap((one) => {
    const stat = orNull(() => lstatSync(one));
    if (stat === null) return [];
    const isForeign = !owners.includes(stat.uid);
    const isShared = stat.isDirectory() && (stat.mode & WORLD_WRITES) !== 0 && (stat.mode & STICKY) === 0;
    return isForeign || isShared ? [{ path: one, stat, isForeign }] : [];
  });
}

/** Returns every name that the system looks up for a path, from the top. Names are not normalized, because `link/..` leads elsewhere. */
function stepsTo(given: string, steps = new Set<string>()): Set<string> {
  // With a slash at its end, the path of a link leads to the target.
  const path = given.replace(/(?<!\/)\/+$/, '') || '/';
  if (steps.has(path)) return steps;
  if (path !== '/') stepsTo(dirname(path), steps);
  steps.add(path);
  const target = orNull(() => readlinkSync(path));
  if (target === null) return steps;
  return stepsTo(target.startsWith('/') ? target : `${dirname(path)}/${target}`, steps);
}

/** Returns the socket and a link to it. Throws the error of a connect if it is missing, so that none is tried. */
function findSocket(path: string) {
  try {
    return { link: lstatSync(path), socket: statSync(path) };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code === 'EACCES' ? 'EACCES' : 'ENOENT';
    throw Object.assign(error as Error, { code, syscall: 'connect' });
  }
}

/** Workers wait for the right server, as they do while no server can be reached. */
const unsafe = (what: string, hint: string): QueueError => new QueueError('store-unreachable', what, hint);

/** Returns the id of a user, who is given by name or id. Returns -1 if the user is not in /etc/passwd. */
function uidOf(user: string): number {
  if (/^\d+$/.test(user)) return Number(user);
  const lines = orNull(() => readFileSync('/etc/passwd', 'latin1').split('\n')) ?? [];
  return Number(lines.map((line) => line.split(':')).find(([name]) => name === user)?.[2] ?? -1);
}
