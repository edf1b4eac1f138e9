import { readdirSync, readFileSync } from 'node:fs';
import { stat } from '../../src/files/process-identity.ts';
import { type Sandbox, until } from './queuectl.ts';

export interface WorkerJson {
  id: string;
  pid: number;
  status: string;
  last_heartbeat: string;
  current_jobs: string[];
}

export function workersOf(box: Sandbox): Promise<WorkerJson[]> {
  return box.json<WorkerJson[]>(['worker', 'list']);
}

/** Waits until a live worker process runs the job, and returns it. A dead worker may still be listed. */
export function untilWorkerOf(box: Sandbox, job: string): Promise<WorkerJson> {
  const holds = (worker: WorkerJson): boolean => worker.current_jobs.includes(job) && isAlive(worker.pid);
  return until(async () => (await workersOf(box)).find(holds), `a worker runs ${job}`);
}

/** Waits until the heartbeats of the listed workers have changed `beats` times. */
export async function untilHeartbeats(box: Sandbox, beats: number): Promise<void> {
  for (let seen = 0; seen < beats; seen++) {
    const times = async () => (await workersOf(box)).map((worker) => worker.last_heartbeat).join();
    const before = await times();
    await until(async () => (await times()) !== before, 'a heartbeat');
  }
}

/** Waits until all workers are draining. */
export function untilDraining(box: Sandbox): Promise<boolean> {
  const draining = (worker: WorkerJson): boolean => worker.status === 'draining';
  return until(async () => (await workersOf(box)).every(draining), 'all workers are stopping');
}

/** Returns the pids of a job: of its frame and of all live processes that its command has started. */
export function processesOfJob(box: Sandbox, job: string): number[] {
  return processesWith(`QUEUECTL_HOME=${box.home}`, `QUEUECTL_JOB_ID=${job}`);
}

/** Returns the pid of the job's frame, which leads its session. Pids start again at low numbers, so it may not be the lowest. */
export function frameOfJob(box: Sandbox, job: string): number {
  return processesOfJob(box, job).find((pid) => stat(pid)?.session === pid)!;
}

export function untilNoProcessOf(box: Sandbox, job: string): Promise<boolean> {
  return until(() => processesOfJob(box, job).length === 0, `nothing of ${job} is left`);
}

export function sendSignal(pids: number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended meanwhile.
    }
  }
}

export function isAlive(pid: number): boolean {
  const state = /\) (\S)/.exec(read(`/proc/${pid}/stat`))?.[1];
  return state !== undefined && state !== 'Z' && state !== 'X';
}

/** Sends SIGKILL to the processes and waits until they are gone. */
export async function killAll(pids: number[]): Promise<void> {
  sendSignal(pids, 'SIGKILL');
  await until(() => !pids.some(isAlive), `${pids.join(', ')} are gone`);
}

/** Kills all processes with this QUEUECTL_HOME, such as servers, workers and jobs. */
export async function killSurvivors(home: string): Promise<void> {
  const remaining = () => processesWith(`QUEUECTL_HOME=${home}`);
  await until(() => {
    sendSignal(remaining(), 'SIGKILL');
    return remaining().length === 0;
  }, 'nothing of the sandbox runs');
}

/** Returns the pids of the live processes with all of these variables in their environment. */
export function processesWith(...variables: string[]): number[] {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.filter((pid) => {
    const environment = `\0${read(`/proc/${pid}/environ`)}`;
    return variables.every((variable) => environment.includes(`\0${variable}\0`)) && isAlive(pid);
  });
}

/** Returns the arguments of a process, or [''] if it has ended. */
export function argumentsOf(pid: number): string[] {
  return read(`/proc/${pid}/cmdline`).split('\0');
}

/** Returns the id of the user that a process runs as, or NaN if the process has ended. */
export function uidOf(pid: number): number {
  return Number(/^Uid:\s*(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1]);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
