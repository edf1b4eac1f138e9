import { accessSync, constants, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { until } from '../support/queuectl.ts';

/** Lists where control groups with a limit of processes are created, in version 1 and 2. */
const ROOTS = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'];

function root(): string | null {
  const usable = (path: string): boolean => {
    try {
      accessSync(`${path}/cgroup.procs`, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  };
  return ROOTS.find(usable) ?? null;
}

/** Returns why processes cannot be limited, or null if they can. */
export function noProcessLimit(): string | null {
  return root() === null ? 'no control groups to be had' : null;
}

/**
 * Runs the work with a command prefix that starts programs in a group with at most this many processes and threads.
 */
export async function inProcessGroup<T>(limit: number, work: (through: string[]) => Promise<T>): Promise<T> {
  const group = `${root()}/queuectl-test-${process.pid}`;
  mkdirSync(group);
  try {
    if (!existsSync(`${group}/pids.max`)) throw new Error('the group has no limit of processes');
    writeFileSync(`${group}/pids.max`, String(limit));
    return await work(['sh', '-c', `echo $$ >${group}/cgroup.procs && exec "$0" "$@"`]);
  } finally {
    await until(() => {
      try {
        rmdirSync(group);
        return true;
      } catch {
        return false;
      }
    }, 'the group is empty');
  }
}
