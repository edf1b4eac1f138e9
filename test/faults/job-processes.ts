import { readdirSync, readFileSync } from 'node:fs';
import { isAlive } from '../support/processes.ts';

/** Returns the live processes of jobs of the queue in `home`, each with the id of its job. */
export function jobProcessesIn(home: string): { pid: number; job: string }[] {
  const found: { pid: number; job: string }[] = [];
  for (const pid of readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const variables = environmentOf(pid);
    if (!variables.includes(`QUEUECTL_HOME=${home}`) || !isAlive(pid)) continue;
    const job = variables.find((one) => one.startsWith('QUEUECTL_JOB_ID='));
    if (job !== undefined) found.push({ pid, job: job.slice('QUEUECTL_JOB_ID='.length) });
  }
  return found;
}

function environmentOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
  } catch {
    return [];
  }
}
