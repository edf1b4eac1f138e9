import { accessSync, constants, existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { until } from '../support/queuectl.ts';

/** Where control groups with a limit of processes are made: version 1 and 2 of them. */
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

/** Why no limit of processes is to be had; null: one is. */
export function noProcessLimit(): string | null {
  return root() === null ? 'no control groups to be had' : null;
}

/** Work with a command prefix that puts what it starts into a group of at most so many processes and threads. */
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
