import { part, send } from '../frame/api.ts';
import { command } from '../frame/cli.ts';
import { ask } from '../frame/question.ts';
import { runAction } from '../jobs/acts.ts';
import { plural } from '../parts/format.ts';
import type { Worker } from '../types.ts';
import { STOP_WORKER } from '../words/workers.ts';

/** Stops a worker. Asks first, because the dashboard cannot start one. */
export async function stopWorker({ id, current_jobs }: Worker, order: 'drain' | 'force'): Promise<void> {
  const force = order === 'force';
  const yes = await ask({
    title: force ? STOP_WORKER.forceTitle : STOP_WORKER.drainTitle,
    detail: detailOf(force, current_jobs.length),
    cli: command('worker', 'stop', id, ...(force ? ['--force'] : [])),
    button: force ? STOP_WORKER.forceButton : STOP_WORKER.drainButton,
    danger: force,
    word: null,
  });
  if (yes)
    await runAction(() => send('POST', `/workers/${part(id)}/stop`, { order }), STOP_WORKER.stopping(id));
}

function detailOf(force: boolean, running: number): string {
  if (running === 0) return force ? STOP_WORKER.forceIdle : STOP_WORKER.drainIdle;
  const jobs = plural(running, STOP_WORKER.runningJob);
  return force ? STOP_WORKER.forceBusy(jobs) : STOP_WORKER.drainBusy(jobs);
}
