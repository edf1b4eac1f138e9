import { readdirSync, statSync } from 'node:fs';
import { orNull } from '../core/text/language.ts';
import { stat } from '../files/process-identity.ts';
import { maybeRead } from '../files/read.ts';
import { PROGRAM_NAME, STORE_VARIABLE } from './program.ts';

/** A worker process of this user on this machine. */
export interface LocalWorker {
  pid: number;
  /** The pid of its supervisor, or null if that is gone. */
  supervisor: number | null;
  location: string;
  environment: NodeJS.ProcessEnv;
}

/** Returns the processes that run the internal command of workers. Returns none where the system does not show environments. */
export function localWorkers(command: string): LocalWorker[] {
  const pids = (orNull(() => readdirSync('/proc')) ?? []).map(Number).filter(Number.isInteger);
  return pids.flatMap((pid) => {
    if (!isOwn(pid) || !(maybeRead(`/proc/${pid}/cmdline`) ?? '').split('\0').includes(command)) return [];
    const variables = (maybeRead(`/proc/${pid}/environ`) ?? '').split('\0');
    const environment = Object.fromEntries(variables.map((text) => text.split(/=(.*)/s, 2)));
    const location = environment[STORE_VARIABLE];
    const parent = stat(pid)?.parent ?? 0;
    const supervisor = isOwn(parent) && stat(parent)?.comm === PROGRAM_NAME ? parent : null;
    return location === undefined ? [] : [{ pid, supervisor, location, environment }];
  });
}

const isOwn = (pid: number): boolean => orNull(() => statSync(`/proc/${pid}`).uid) === process.getuid?.();
