import { QueueError } from './errors.ts';

/** The first version of Node whose built-in database is new enough. `engines` in package.json has the same version. */
const NEEDED_VERSION = [24, 15] as const;

/** Throws on a version of Node that is too old for the store. Bun and the executable have their own database library. */
export function refuseOldNode({ node = '', bun }: { node?: string; bun?: string | undefined }): void {
  if (bun !== undefined) return;
  const [major = 0, minor = 0] = node.split('.').map(Number);
  if (major > NEEDED_VERSION[0] || (major === NEEDED_VERSION[0] && minor >= NEEDED_VERSION[1])) return;
  throw new QueueError(
    'unsupported-platform',
    `queuectl needs Node ${NEEDED_VERSION.join('.')} or later, and this is Node ${node}`,
    'use a newer Node, Bun, or the queuectl executable, which needs neither',
  );
}
