import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crashPoint } from '../core/crash-point.ts';
import { QueueError } from '../core/errors.ts';
import { lacksHardLinks } from '../files/hard-links.ts';
import { processes } from './processes.ts';

/** The machine this state directory is used on, as of this boot and in this pid namespace. */
export function thisHost(stateDirectory: string): { id: string; boot: string; pidNamespace: string } {
  return { id: hostId(stateDirectory), boot: processes.bootId(), pidNamespace: processes.pidNamespace() };
}

/**
 * Throws in a pid namespace that shows another one's processes. Whoever looks for a process there finds pids that are not
 * valid here: live jobs look dead, and signals reach other processes.
 */
export function refuseForeignProc(): void {
  if (processes.showsOwnPids()) return;
  throw new QueueError(
    'unsupported-platform',
    '/proc belongs to another pid namespace, so running jobs cannot be found',
    'mount a separate /proc: unshare -pf --mount-proc. In a container, do not mount the /proc of the host',
  );
}

/** The same without making anything: null where no worker has ever been. */
export function knownHost(stateDirectory: string): ReturnType<typeof thisHost> | null {
  const id = read(join(stateDirectory, 'host'));
  return id === null ? null : { id, boot: processes.bootId(), pidNamespace: processes.pidNamespace() };
}

/** Random and kept: host names are reused, and change. Linked into place whole, so that two makers agree on one. */
function hostId(stateDirectory: string): string {
  const file = join(stateDirectory, 'host');
  const known = read(file);
  if (known !== null) return known;
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    crashPoint('before-host');
    writeFileSync(draft, randomBytes(8).toString('hex'), { mode: 0o600 });
    crashPoint('in-host');
    linkSync(draft, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOSPC') throw new QueueError('disk-full', `cannot write ${file}: the disk is full`);
    if (lacksHardLinks(error))
      throw new QueueError(
        'store-unavailable',
        `${stateDirectory} is on a file system without hard links, which workers need`,
        'queuectl --db /a/path/on/another/disk …',
      );
    if (code !== 'EEXIST') throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  crashPoint('after-host');
  const made = read(file);
  if (made === null) throw new QueueError('store-unavailable', `cannot read ${file}`);
  return made;
}

function read(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    return null;
  }
}
