import { createHash, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { namesIn } from './names-in.ts';
import { processes } from './processes.ts';

export interface Leftover {
  path: string;
  bytes: number;
}

/** So long after its last change nobody is at work on a draft any more, wherever he was. */
const STALE_MS = 24 * 3600 * 1000;
const NAME = /^\.queuectl-([0-9a-f]{8})-(\d+)-[0-9a-f]{12}\.draft([-.].*)?$/;

/**
 * A name for a file that is made beside its target, so that it can be moved into place as a whole. It tells whose it is:
 * those that killed processes left there go now.
 */
export function newDraft(target: string): string {
  const directory = dirname(target);
  removeDrafts(directory);
  return join(directory, `.queuectl-${here()}-${process.pid}-${randomBytes(6).toString('hex')}.draft`);
}

/** Looked at first: a read-only file system refuses to remove even what is not there, and would hide the error before. */
export function removeDraft(draft: string): void {
  for (const end of ['', '-wal', '-shm', '-journal'])
    if (existsSync(draft + end)) rmSync(draft + end, { force: true });
}

export function isDraft(name: string): boolean {
  return NAME.test(name);
}

export function removeDrafts(directory: string): void {
  for (const { path } of abandonedDrafts(directory)) rmSync(path, { force: true });
}

export function abandonedDrafts(directory: string): Leftover[] {
  return abandonedBy(directory, NAME);
}

/** Of this user, and of processes that are gone: `names` begins with where that was and its pid. */
export function abandonedBy(directory: string, names: RegExp): Leftover[] {
  return leftoversIn(directory, (name, changedAt) => {
    const [, host, pid] = names.exec(name) ?? [];
    if (host === undefined) return false;
    return (host === here() && isGone(Number(pid))) || Date.now() - changedAt > STALE_MS;
  });
}

/** What is named by the process that was to move it into place, such as `out.123`, and is not its own name. */
export function abandonedParts(directory: string, names: RegExp): Leftover[] {
  return leftoversIn(directory, (name) => {
    const pid = names.exec(name)?.[1];
    return pid !== undefined && isGone(Number(pid));
  });
}

function leftoversIn(directory: string, wanted: (name: string, changedAt: number) => boolean): Leftover[] {
  const found: Leftover[] = [];
  for (const name of namesIn(directory)) {
    const path = join(directory, name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat?.isFile() && stat.uid === (process.getuid?.() ?? stat.uid) && wanted(name, stat.mtimeMs))
      found.push({ path, bytes: stat.size });
  }
  return found;
}

/** Pids mean something only within one boot and namespace; a disk may be shared. */
export function here(): string {
  const where = `${processes.bootId()} ${processes.pidNamespace()}`;
  return createHash('sha256').update(where).digest('hex').slice(0, 8);
}

function isGone(pid: number): boolean {
  return pid !== process.pid && processes.showsOwnPids() && processes.startTime(pid) === null;
}
