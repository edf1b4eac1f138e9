import type { ClaimedJob } from '../core/job.ts';
import { signalAttempt, targetOf } from '../exec/kill.ts';
import { type FoundProcess, processes, type Target } from '../exec/processes.ts';
import { refuseForeignProc } from '../state/host.ts';
import { placeOfAttempt } from '../state/place.ts';
import type { JobActionResult } from './act.ts';
import type { App } from './app.ts';
import { wishSignal } from './wish-signal.ts';

/** The ways in which running jobs are signalled. */
interface SignalWays {
  /** Signals the processes of a job of this machine. Returns how many there were. */
  send(target: Target, signal: NodeJS.Signals): number;
  /** Passes the signal on to the workers of jobs on other hosts. Returns the ids of the jobs that will get it. */
  wish(ids: string[]): Promise<string[]>;
}

/** Suspends the processes of running jobs with SIGSTOP. Timeouts continue to count. */
export function suspendJobs(app: App, ids: string[]): Promise<JobActionResult> {
  return signalJobs(app, ids, 'SIGSTOP');
}

/**
 * Signals the processes of running jobs. The worker of a job on another host gets a wish instead. SIGSTOP skips jobs of this
 * machine that are already suspended.
 */
export async function signalJobs(
  app: App,
  ids: string[],
  signal: NodeJS.Signals,
  { send, wish }: SignalWays = {
    send: signalAttempt,
    wish: (wished) => wishSignal(app, wished, signal),
  },
): Promise<JobActionResult> {
  const running = await runningJobs(app);
  const changed: string[] = [];
  let alreadySuspended = 0;
  for (const id of ids) {
    const job = running.get(id);
    if (job === undefined) continue;
    if (job.otherHost !== null) {
      changed.push(...(await wish([id])));
      continue;
    }
    refuseForeignProc();
    const target = targetOfJob(app, job);
    if (signal === 'SIGSTOP' && isSuspended(processes.find(target))) alreadySuspended++;
    else if (send(target, signal) > 0) changed.push(id);
  }
  const unchanged = ids.filter((id) => !changed.includes(id));
  const allSuspended = alreadySuspended > 0 && alreadySuspended === unchanged.length;
  const why = allSuspended ? 'are already suspended' : 'are not running';
  return { changed, unchanged, why };
}

/** Returns which jobs a signal would reach now. */
export function previewSignal(app: App, ids: string[], signal: NodeJS.Signals): Promise<JobActionResult> {
  const send = (target: Target): number => processes.find(target).length;
  return signalJobs(app, ids, signal, { send, wish: async (wished) => wished });
}

/** Returns the running jobs by their ids. */
async function runningJobs(app: App): Promise<Map<string, ClaimedJob>> {
  return new Map((await app.store.runningJobs()).map((job) => [job.id, job]));
}

/** Returns what identifies the processes of a running job of this machine. */
const targetOfJob = (app: App, { claim }: ClaimedJob): Target => targetOf(placeOfAttempt(app, claim.attempt));

/** Returns the processes that a running job has on this machine. */
export async function processesOf(app: App, id: string): Promise<FoundProcess[]> {
  const job = (await runningJobs(app)).get(id);
  return job === undefined || job.otherHost !== null ? [] : processes.find(targetOfJob(app, job));
}

export function isSuspended(found: FoundProcess[]): boolean {
  return found.length > 0 && found.every((one) => one.stopped);
}
