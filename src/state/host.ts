import { randomBytes } from 'node:crypto';
import { crashPoint } from '../core/crash-point.ts';
import { QueueError } from '../core/errors.ts';
import { writeAtomically } from '../files/atomic.ts';
import { maybeRead } from '../files/maybe-read.ts';
import { lacksHardLinks } from '../files/name-draft.ts';
import { processIdentity } from '../files/process-identity.ts';
import type { StateDirectory } from './state-directory.ts';

/** Identifies a machine for processes: a pid is meaningful only within one of these. */
export interface Host {
  id: string;
  boot: string;
  /** Includes the time namespace unless it is the initial one, because start times differ between time namespaces. */
  pidNamespace: string;
}

/** Returns the machine this state directory is used on, as of this boot and in this pid namespace. */
export const thisHost = (state: StateDirectory): Host => hostNamed(hostId(state));

/** Returns the same without making anything; null if no worker has ever run here. */
export function knownHost(state: StateDirectory): Host | null {
  const id = maybeRead(state.host);
  return id === null ? null : hostNamed(id);
}

const hostNamed = (id: string): Host => ({
  id,
  boot: processIdentity.bootId(),
  pidNamespace: processIdentity.pidNamespace(),
});

/** Throws if /proc shows another pid namespace. There live jobs would look dead, and signals would reach other processes. */
export function refuseForeignProc(): void {
  if (processIdentity.showsOwnPids()) return;
  throw new QueueError(
    'unsupported-platform',
    '/proc belongs to another pid namespace, so running jobs cannot be found',
    'mount a separate /proc: unshare -pf --mount-proc. In a container, do not mount the /proc of the host',
  );
}

/** Makes the name of this host unless it has one. It is random and kept: host names are reused, and change. */
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
  const made = maybeRead(host);
  if (made === null) throw new QueueError('store-unavailable', `cannot read ${host}`);
  return made;
}
