import type { App } from '../../actions/app.ts';
import { cancelJobs } from '../../actions/cancel.ts';
import { holdJobs } from '../../actions/hold.ts';
import { changeQueue } from '../../actions/queues.ts';
import { releaseJobs } from '../../actions/release.ts';
import { retryJobs } from '../../actions/retry.ts';
import { verbFor } from '../../core/words.ts';
import { untilEnded } from '../../worker/orphans.ts';
import { dependentsPhrase } from '../warn-dependents.ts';
import type { Effect } from './ui.ts';

export type Action = Exclude<Effect, { do: 'follow' } | { do: 'quit' | 'suspend' | 'unfollow' | 'redraw' }>;

const JOB_ACTIONS: Record<'cancel' | 'retry' | 'hold' | 'release', [done: string, act: typeof holdJobs]> = {
  cancel: ['cancelled', (app, ids) => cancelJobs(app, ids, { untilEnded })],
  retry: ['retried', retryJobs],
  hold: ['held', holdJobs],
  release: ['released', releaseJobs],
};

/** Runs the action that a key asked for, and returns the message to show. */
export async function perform(app: App, action: Action, by: string): Promise<string> {
  if ('queue' in action) {
    const pauses = action.do === 'pause';
    await changeQueue(app, action.queue, { paused: pauses ? { at: app.clock.now(), by } : null });
    return pauses ? `paused queue ${action.queue}; running jobs continue` : `resumed queue ${action.queue}`;
  }
  const { id } = action;
  const [done, act] = JOB_ACTIONS[action.do];
  const { changed, why, retriedAtMostOnce = [], alsoCancelled = [] } = await act(app, [id]);
  if (changed.length === 0) return `job ${id} ${verbFor(1, why)}`;
  const also = alsoCancelled.length === 0 ? '' : ` and ${dependentsPhrase(alsoCancelled, 'depended', 1)}`;
  const again = retriedAtMostOnce.length > 0 ? ', an at-most-once job that was started before' : '';
  return `${done} job ${id}${again}${also}`;
}
