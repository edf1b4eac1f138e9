import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import { processIdentity } from '../files/process-identity.ts';
import { maybeRead } from '../files/read.ts';
import { lacksHardLinks, writeAtomically } from '../files/write.ts';
import type { StateDirectory } from './state-directory.ts';

/** Identifies the machine, boot and pid namespace in which a pid is meaningful. */
export interface Host {
  id: string;
  boot: string;
  /** Includes the time namespace unless it is the initial one, because start times differ between time namespaces. */
  pidNamespace: string;
}

/**
 * Identifies a boot of a machine. A machine that is a copy of another one has the same id and another boot. Cloned containers share a
 * kernel, so if several hosts share the store, the boot also identifies the file that has the id.
 */
export type HostBoot = Pick<Host, 'id' | 'boot'>;

/** Tells whether two hosts are the same boot of one machine. */
export const isSameBoot = (one: HostBoot, other: HostBoot | null): boolean =>
  one.id === other?.id && one.boot === other.boot;

/** Returns this machine, boot and pid namespace. Creates the id of this machine if the state directory has none. */
export const thisHost = (state: StateDirectory): Host => hostWithId(hostId(state), state);

/** Returns the same as `thisHost` without creating an id, or null if this machine has none. */
export function knownHost(state: StateDirectory): Host | null {
  const id = maybeRead(state.host);
  return id === null ? null : hostWithId(id, state);
}

const hostWithId = (id: string, { host, manyHosts }: StateDirectory): Host => ({
  id,
  boot: manyHosts ? `${processIdentity.bootId()} ${fileIdentity(host)}` : processIdentity.bootId(),
  pidNamespace: processIdentity.pidNamespace(),
});

/** Identifies a file among all files of a kernel. A copy of it has another device, inode or time of creation. */
function fileIdentity(file: string): string {
  const { dev, ino, birthtimeNs } = statSync(file, { bigint: true });
  return [dev, ino, birthtimeNs].map((number) => number.toString(36)).join('-');
}

/** Throws if /proc shows another pid namespace. Then running jobs would look dead, and signals would reach other processes. */
export function refuseForeignProc(): void {
  if (processIdentity.showsOwnPids()) return;
  throw new QueueError(
    'unsupported-platform',
    '/proc belongs to another pid namespace, so running jobs cannot be found',
    'mount a separate /proc: unshare -pf --mount-proc. In a container, do not mount the /proc of the host',
  );
}

/** Returns the stored id of this machine, and creates it if there is none. It is random, because host names change and are reused. */
function hostId({ host, path }: StateDirectory): string {
  const known = maybeRead(host);
  if (known !== null) return known;
  try {
    const newId = randomBytes(8).toString('hex');
    writeAtomically(host, newId, { replace: false, needsLinks: true, sync: false, point: 'host' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
      throw new QueueError('disk-full', `cannot write ${host}: the disk is full`);
    if (lacksHardLinks(error))
      throw new QueueError(
        'store-unavailable',
        `${path} is on a file system without hard links, which workers need`,
        'queuectl --db /a/path/on/another/disk …',
      );
    throw error;
  }
  const created = maybeRead(host);
  if (created === null) throw new QueueError('store-unavailable', `cannot read ${host}`);
  return created;
}
