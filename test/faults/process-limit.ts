import { accessSync, constants, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { until } from '../support/queuectl.ts';

/** Lists the directories in which control groups are created, of version 1 and of version 2. */
const CGROUP_ROOTS = ['/sys/fs/cgroup/pids', '/sys/fs/cgroup'];

function writableRoot(): string | null {
  const usable = (path: string): boolean => {
    try {
      accessSync(`${path}/cgroup.procs`, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  };
  return CGROUP_ROOTS.find(usable) ?? null;
}

/** Returns why processes cannot be limited, or null if they can. */
export function whyNoProcessLimit(): string | null {
  return writableRoot() === null ? 'no control groups' : null;
}

/** Runs `work` with a command prefix for programs in a control group of at most `limit` processes and threads. */
export async function inControlGroup<T>(limit: number, work: (through: string[]) => Promise<T>): Promise<T> {
  const group = `${writableRoot()}/queuectl-test-${process.pid}`;
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
