import { type ClaimedJob, FINAL_STATES } from '../../core/jobs/job.ts';
import { pause } from '../../core/time/clock.ts';
import { signalAttempt, targetOf } from '../../exec/kill.ts';
import { runsInOtherNamespace } from '../../exec/lifeline.ts';
import { type FoundProcess, processes, type Target } from '../../exec/processes.ts';
import { filesOfAttempt } from '../../state/attempt-files.ts';
import { refuseForeignProc } from '../../state/host.ts';
import { readRecord } from '../../state/record.ts';
import type { App } from '../app.ts';
import type { JobActionResult } from './act.ts';
import { cancelJobs } from './act.ts';
import { getJobWithAttempts } from './jobs.ts';

/** The ways in which running jobs are signalled. */
interface SignalWays {
  /** Signals the processes of a job of this machine. Returns how many there were. */
  send(target: Target, signal: NodeJS.Signals): number;
  /** Passes the signal on to the workers of jobs on other hosts. Returns the ids of the jobs that will get it. */
  wish(ids: string[]): Promise<string[]>;
}

/**
 * Signals the processes of running jobs. For a job on another host, the store passes the request to its worker. SIGSTOP skips jobs of this
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

/** Lets the workers of running jobs on other hosts signal them. Returns the ids of the jobs that will get the signal. */
async function wishSignal(app: App, ids: string[], signal: NodeJS.Signals): Promise<string[]> {
  const wished = await app.store.wishSignal(ids, signal);
  if (wished.length > 0) app.wakeups.wake();
  return wished;
}

/** Returns the running jobs by their ids. */
async function runningJobs(app: App): Promise<Map<string, ClaimedJob>> {
  return new Map((await app.store.runningJobs()).map((job) => [job.id, job]));
}

/** Returns what identifies the processes of a running job of this machine. */
const targetOfJob = (app: App, { claim }: ClaimedJob): Target => targetOf(filesOfAttempt(app, claim.attempt));

/** Returns the processes that a running job has on this machine. */
export async function processesOf(app: App, id: string): Promise<FoundProcess[]> {
  const job = (await runningJobs(app)).get(id);
  return job === undefined || job.otherHost !== null ? [] : processes.find(targetOfJob(app, job));
}

export function isSuspended(found: FoundProcess[]): boolean {
  return found.length > 0 && found.every((one) => one.stopped);
}

const POLL_MS = 20;

/** Interrupts a job as Ctrl-C does: signals a running job, and cancels one that is waiting or runs in another pid namespace. */
export async function interrupt(app: App, id: string, signal: NodeJS.Signals): Promise<void> {
  for (;;) {
    const { job, attempts } = await getJobWithAttempts(app, id);
    if (FINAL_STATES.includes(job.state)) return;
    const attempt = attempts.at(-1);
    if (job.state !== 'processing' || attempt === undefined) {
      await cancelJobs(app, [id]);
      return;
    }
    if (attempt.otherHost !== null && (await wishSignal(app, [id], signal)).length > 0) return;
    const files = filesOfAttempt(app, attempt.number);
    if (processes.showsOwnPids() && signalAttempt(targetOf(files), signal) > 0) return;
    // Only a worker of the other pid namespace can end the job, so the job is cancelled.
    if (runsInOtherNamespace(readRecord(files))) {
      await cancelJobs(app, [id]);
      return;
    }
    // The job is claimed and not yet started, or has ended and is not yet settled.
    await pause(POLL_MS);
  }
}
