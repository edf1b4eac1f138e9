import { get, part, send } from './api.ts';
import { actCommand } from './cli.ts';
import { type Filter, filterBody } from './filter.ts';
import { number, plural } from './format.ts';
import { refresh } from './live.ts';
import { track } from './operations.ts';
import { ask } from './question.ts';
import { notify, notifyError } from './toasts.ts';
import type { Children, Job, Operation, State } from './types.ts';
import { ACTING, ACTIONS } from './words/jobs.ts';

export const VERBS = ['retry', 'cancel', 'hold', 'release', 'delete'] as const;
export type Verb = (typeof VERBS)[number];

/** The states that each action applies to. The server makes the final decision. */
const STATES_FOR: Record<Verb, readonly State[]> = {
  retry: ['dead', 'cancelled', 'failed'],
  cancel: ['pending', 'processing', 'failed'],
  hold: ['pending', 'failed'],
  release: ['pending', 'failed'],
  delete: ['pending', 'failed', 'completed', 'dead', 'cancelled'],
};

export const isPossible = (verb: Verb, job: Job): boolean => STATES_FOR[verb].includes(job.state as State);

/** An action on more jobs than this has to be confirmed by typing their number. */
export const TYPED_ABOVE = 100;

/** Runs an action and reports its result. Returns true if it succeeded. */
export async function runAction(act: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await act();
    notify(done);
    refresh();
    return true;
  } catch (error) {
    notifyError(error);
    return false;
  }
}

/** Acts on a job. Asks first if that stops or deletes the job, because neither can be undone. */
export async function actOnJob(verb: Verb, job: Job): Promise<boolean> {
  const { id, state } = job;
  if (verb === 'retry' && job.at_most_once && job.started_at !== null && !(await askToStartAgain(id)))
    return false;
  const cancels = verb === 'cancel' && state === 'processing';
  const ends = verb === 'cancel' || verb === 'delete';
  const lost = ends ? await cancelledBy(verb, id) : 0;
  const also = lost === 0 ? null : plural(lost, ACTING.dependent, ACTING.dependents);
  const asked = {
    title: cancels ? ACTING.cancelTitle(id) : ACTING.deleteTitle(id),
    detail:
      (cancels ? ACTING.cancelDetail : ACTING.deleteDetail) + (also === null ? '' : ACTING.alsoCancels(also)),
    cli: actCommand(verb, { ids: [id] }),
    button: cancels ? ACTING.cancelButton : ACTIONS.delete.label,
    danger: true,
    word: null,
  };
  if ((cancels || verb === 'delete') && !(await ask(asked))) return false;
  const path = `/jobs/${part(id)}`;
  return runAction(
    () => (verb === 'delete' ? send('DELETE', path) : send('POST', `${path}/${verb}`)),
    also === null ? ACTING.done(id, ACTIONS[verb].past) : ACTING.doneWith(id, ACTIONS[verb].past, also),
  );
}

/** Returns how many other jobs are cancelled if the job is cancelled or deleted. Without an answer, the action goes on. */
async function cancelledBy(verb: 'cancel' | 'delete', id: string): Promise<number> {
  try {
    const answer = await get<Children>(`/jobs/${part(id)}/children`);
    return verb === 'delete' ? answer.cancelled_if_deleted : answer.cancelled_with_it;
  } catch {
    return 0;
  }
}

function askToStartAgain(id: string): Promise<boolean> {
  return ask({
    title: ACTING.againTitle(id),
    detail: ACTING.againDetail,
    button: ACTING.againButton,
    cli: actCommand('retry', { ids: [id] }),
    danger: false,
    word: null,
  });
}

/** Makes a job that is scheduled for later due now. */
export function promote(id: string): Promise<boolean> {
  // The server computes the time, because the clock of the browser may be wrong.
  return runAction(() => send('PATCH', `/jobs/${part(id)}`, { run_at: '+0s' }), ACTING.dueNow(id));
}

export type Selected = { ids: string[] } | { filter: Filter; count: number; capped: boolean };

/** Acts on many jobs. Asks first, then shows the progress. */
export async function actOnMany(
  verb: Verb | 'edit',
  on: Selected,
  changes?: Record<string, unknown>,
): Promise<boolean> {
  const count = 'ids' in on ? on.ids.length : on.count;
  const many = 'capped' in on && on.capped ? ACTING.orMore(number(count)) : plural(count, 'job');
  const typed = 'capped' in on && on.capped ? verb : String(count);
  const danger = verb === 'delete' || verb === 'cancel';
  const flags = Object.entries(changes ?? {}).flatMap(([field, value]) => [
    `--${field === 'queue' ? 'set-queue' : field}`,
    String(value),
  ]);
  const yes = await ask({
    title: `${ACTIONS[verb].label} ${many}?`,
    detail: ACTIONS[verb].bulk,
    cli: actCommand(verb, on, flags),
    button: `${ACTIONS[verb].label} ${many}`,
    danger,
    word: danger && count > TYPED_ABOVE ? typed : null,
  });
  if (!yes) return false;
  const which = 'ids' in on ? { ids: on.ids } : { filter: filterBody(on.filter) };
  return startOperation({ action: verb, ...which, ...(changes === undefined ? {} : { changes }) });
}

export async function startOperation(body: Record<string, unknown>): Promise<boolean> {
  try {
    track(await send<Operation>('POST', '/operations', body));
    return true;
  } catch (error) {
    notifyError(error);
    return false;
  }
}
