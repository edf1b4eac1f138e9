import { type Acted, holdJobs, type Retried, releaseJobs, retryJobs } from '../../actions/act.ts';
import type { App } from '../../actions/app.ts';
import { changeQueue } from '../../actions/queues.ts';
import { saidOf } from '../../core/words.ts';
import { cancel } from '../../worker/cancel.ts';
import { thatDepend } from '../warn-dependents.ts';
import type { Effect } from './ui.ts';

export type Action = Exclude<Effect, { do: 'follow' } | { do: 'quit' | 'suspend' | 'unfollow' | 'redraw' }>;

/** Runs the action that a key asked for, and returns the message to show. */
export async function perform(app: App, action: Action, by: string): Promise<string> {
  switch (action.do) {
    case 'cancel':
      return resultText('cancelled', action.id, await cancel(app, [action.id]));
    case 'retry':
      return retried(action.id, await retryJobs(app, [action.id]));
    case 'hold':
      return resultText('held', action.id, await holdJobs(app, [action.id]));
    case 'release':
      return resultText('released', action.id, await releaseJobs(app, [action.id]));
    case 'pause':
      await changeQueue(app, action.queue, { paused: { at: app.clock.now(), by } });
      return `paused queue ${action.queue}; running jobs continue`;
    case 'resume':
      await changeQueue(app, action.queue, { paused: null });
      return `resumed queue ${action.queue}`;
  }
}

function retried(id: string, acted: Retried): string {
  const again = acted.startedAgain.length > 0 ? ', an at-most-once job that was started before' : '';
  return resultText('retried', id, acted) + again;
}

function resultText(done: string, id: string, { changed, why, alsoCancelled = [] }: Acted): string {
  if (changed.length === 0) return `job ${id} ${saidOf(1, why)}`;
  const also = alsoCancelled.length === 0 ? '' : ` and ${thatDepend(alsoCancelled, 'depended', 1)}`;
  return `${done} job ${id}${also}`;
}
