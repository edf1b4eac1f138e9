import { attempt } from './acts.ts';
import { part, send } from './api.ts';
import { ask } from './asking.ts';
import { command } from './cli.ts';
import { plural } from './format.ts';
import type { Worker } from './types.ts';

/** Asked first: nothing here can start it again. */
export async function stopWorker({ id, current_jobs }: Worker, order: 'drain' | 'force'): Promise<void> {
  const force = order === 'force';
  const jobs = plural(current_jobs.length, 'job');
  const yes = await ask({
    title: `${force ? 'Stop worker and end its jobs' : 'Stop worker'}?`,
    detail: force
      ? `The ${jobs} that it runs are ended and put back in their queues, uncharged.`
      : `It takes no more jobs, finishes the ${jobs} that it runs, and ends. It is not replaced.`,
    cli: command('worker', 'stop', id, ...(force ? ['--force'] : [])),
    ...{ button: 'Stop it', danger: force, word: null },
  });
  if (yes)
    await attempt(
      () => send('POST', `/workers/${part(id)}/stop`, { order }),
      `Worker ${id} is told to stop${force ? ' at once' : ''}`,
    );
}
