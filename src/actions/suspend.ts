import { signalAttempt, targetOf } from '../exec/kill.ts';
import { type FoundProcess, processes, type Target } from '../exec/processes.ts';
import { refuseForeignProc } from '../state/host.ts';
import { placeOfAttempt } from '../state/place.ts';
import type { JobActionResult } from './act.ts';
import type { App } from './app.ts';

/** Suspends the processes of running jobs with SIGSTOP. Timeouts continue to count. */
export function suspendJobs(app: App, ids: string[]): Promise<JobActionResult> {
  return signalJobs(app, ids, 'SIGSTOP');
}

/** Signals the processes that running jobs have on this machine. SIGSTOP skips jobs that are already suspended. */
export async function signalJobs(app: App, ids: string[], signal: NodeJS.Signals, send = signalAttempt) {
  refuseForeignProc();
  const targets = await targetsOf(app);
  const changed: string[] = [];
  let alreadySuspended = 0;
  for (const id of ids) {
    const target = targets.get(id);
    if (target === undefined) continue;
    if (signal === 'SIGSTOP' && isSuspended(processes.find(target))) alreadySuspended++;
    else if (send(target, signal) > 0) changed.push(id);
  }
  const unchanged = ids.filter((id) => !changed.includes(id));
  const allSuspended = alreadySuspended > 0 && alreadySuspended === unchanged.length;
  const why = allSuspended ? 'are already suspended' : 'are not running on this machine';
  return { changed, unchanged, why };
}

/** Returns which jobs a signal would reach now. */
export function previewSignal(app: App, ids: string[], signal: NodeJS.Signals): Promise<JobActionResult> {
  return signalJobs(app, ids, signal, (target) => processes.find(target).length);
}

/** Returns the target of each running job by its id. A target identifies the processes of the job. */
async function targetsOf(app: App): Promise<Map<string, Target>> {
  const jobs = await app.store.runningJobs();
  return new Map(jobs.map(({ id, claim }) => [id, targetOf(placeOfAttempt(app, claim.attempt))]));
}

/** Returns the processes that a running job has on this machine. */
export async function processesOf(app: App, id: string): Promise<FoundProcess[]> {
  const target = (await targetsOf(app)).get(id);
  return target === undefined ? [] : processes.find(target);
}

export function isSuspended(found: FoundProcess[]): boolean {
  return found.length > 0 && found.every((one) => one.stopped);
}
