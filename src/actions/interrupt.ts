import { FINAL_STATES } from '../core/job.ts';
import { signalProcesses } from '../exec/kill.ts';
import { placeOf } from '../exec/place.ts';
import { readRecord } from '../exec/record.ts';
import type { App } from './app.ts';
import { showJob } from './jobs.ts';

const LOOK_MS = 20;

/** What became of a signal that was meant for a job. */
export type Passed = 'sent' | 'taken-back' | 'over';

/** Does to a job what Ctrl-C does to a program: the running one gets the signal, the waiting one never runs. */
export async function interrupt(app: App, id: string, signal: NodeJS.Signals): Promise<Passed> {
  for (;;) {
    const { job, attempts } = await showJob(app, id);
    if (FINAL_STATES.includes(job.state)) return 'over';
    const attempt = attempts.at(-1);
    if (job.state === 'processing' && attempt !== undefined) {
      const place = placeOf(app.stateDirectory, app.store.epoch, attempt.number);
      const record = readRecord(place);
      if (record?.kind === 'running' && signalProcesses({ group: record.pid, cookie: place.cookie }, signal))
        return 'sent';
    } else if (await takeBack(app, id)) return 'taken-back';
    // Between two states: claimed and not yet started, or ended and not yet settled.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/** Takes a waiting job out of its queue for good. False: a worker was faster. */
async function takeBack(app: App, id: string): Promise<boolean> {
  return (await app.store.remove([id], ['pending', 'failed'])).ids.length > 0;
}
