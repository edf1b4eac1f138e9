import { randomBytes } from 'node:crypto';
import { crashPoint } from '../core/crash-point.ts';
import { QueueError } from '../core/errors.ts';
import { writeAtomically } from '../files/atomic.ts';
import { maybeRead } from '../files/maybe-read.ts';
import { lacksHardLinks } from '../files/name-draft.ts';
import { processIdentity } from '../files/process-identity.ts';
import type { StateDirectory } from './state-directory.ts';

/** Identifies the machine, boot and pid namespace in which a pid is meaningful. */
export interface Host {
  id: string;
  boot: string;
  /** Includes the time namespace unless it is the initial one, because start times differ between time namespaces. */
  pidNamespace: string;
}

/** Identifies a boot of a machine. A machine that is a copy of another one has the same id and another boot. */
export type HostBoot = Pick<Host, 'id' | 'boot'>;

/** Tells whether two hosts are the same boot of one machine. */
export const isSameBoot = (one: HostBoot, other: HostBoot | null): boolean =>
  one.id === other?.id && one.boot === other.boot;

/** Returns this machine, boot and pid namespace. Creates the id of this machine if the state directory has none. */
export const thisHost = (state: StateDirectory): Host => hostWithId(hostId(state));

/** Returns the same as `thisHost` without creating an id, or null if this machine has none. */
export function knownHost(state: StateDirectory): Host | null {
  const id = maybeRead(state.host);
  return id === null ? null : hostWithId(id);
}

const hostWithId = (id: string): Host => ({
  id,
  boot: processIdentity.bootId(),
  pidNamespace: processIdentity.pidNamespace(),
});

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
    crashPoint('before-host');
    writeAtomically(host, randomBytes(8).toString('hex'), {
      replace: false,
      needsLinks: true,
      sync: false,
      beforeNaming: () => crashPoint('in-host'),
    });
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
  crashPoint('after-host');
  const created = maybeRead(host);
  if (created === null) throw new QueueError('store-unavailable', `cannot read ${host}`);
  return created;
}
