import { pause } from '../core/clock.ts';
import { FINAL_STATES } from '../core/job.ts';
import { signalAttempt, targetOf } from '../exec/kill.ts';
import { runsInOtherNamespace } from '../exec/lifeline.ts';
import { processes } from '../exec/processes.ts';
import { placeOfAttempt } from '../state/place.ts';
import { readRecord } from '../state/record.ts';
import type { App } from './app.ts';
import { cancelJobs } from './cancel.ts';
import { getJobWithAttempts } from './jobs.ts';
import { wishSignal } from './wish-signal.ts';

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
    const place = placeOfAttempt(app, attempt.number);
    if (processes.showsOwnPids() && signalAttempt(targetOf(place), signal) > 0) return;
    // Only a worker of the other pid namespace can end the job, so the job is cancelled.
    if (runsInOtherNamespace(readRecord(place))) {
      await cancelJobs(app, [id]);
      return;
    }
    // The job is claimed and not yet started, or has ended and is not yet settled.
    await pause(POLL_MS);
  }
}
