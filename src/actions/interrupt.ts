import { pause } from '../core/clock.ts';
import { FINAL_STATES } from '../core/job.ts';
import { signalAttempt } from '../exec/kill.ts';
import { isForeign } from '../exec/lifeline.ts';
import { processes } from '../exec/processes.ts';
import { placeOf } from '../state/place.ts';
import { readRecord } from '../state/record.ts';
import type { App } from './app.ts';
import { cancelJobs } from './cancel.ts';
import { showJob } from './jobs.ts';

const LOOK_MS = 20;

/** Does to a job what Ctrl-C does to a program: the running one gets the signal, the waiting one never runs. */
export async function interrupt(app: App, id: string, signal: NodeJS.Signals): Promise<void> {
  for (;;) {
    const { job, attempts } = await showJob(app, id);
    if (FINAL_STATES.includes(job.state)) return;
    const attempt = attempts.at(-1);
    if (job.state !== 'processing' || attempt === undefined) {
      await cancelJobs(app, [id]);
      return;
    }
    const place = placeOf(app.stateDirectory, app.store.epoch, attempt.number);
    const record = readRecord(place);
    const target = { group: record?.kind === 'running' ? record.pid : -1, cookie: place.cookie };
    if (processes.showsOwnPids() && signalAttempt(target, signal) > 0) return;
    // Only a worker that sees it can end it.
    if (isForeign(record)) {
      await cancelJobs(app, [id]);
      return;
    }
    // Claimed and not yet started, or ended and not yet settled.
    await pause(LOOK_MS);
  }
}
