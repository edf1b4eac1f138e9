import { part, send } from './api.ts';
import { ask } from './asking.ts';
import { actCommand } from './cli.ts';
import { type Filter, filterBody } from './filter.ts';
import { number, plural } from './format.ts';
import { refresh } from './live.ts';
import { track } from './operations.ts';
import { complain, tell } from './toasts.ts';
import type { Job, Operation, State } from './types.ts';
import { ACTING, ACTIONS } from './words/jobs.ts';

export const VERBS = ['retry', 'cancel', 'hold', 'release', 'delete'] as const;
export type Verb = (typeof VERBS)[number];

/** Which states a verb makes sense for. The server has the last word. */
const FOR: Record<Verb, readonly State[]> = {
  retry: ['dead', 'cancelled', 'failed'],
  cancel: ['pending', 'processing', 'failed'],
  hold: ['pending', 'failed'],
  release: ['pending', 'failed'],
  delete: ['pending', 'failed', 'completed', 'dead', 'cancelled'],
};

export const possible = (verb: Verb, job: Job): boolean => FOR[verb].includes(job.state as State);

/** More than so many at once: the number has to be typed. */
export const TYPED_ABOVE = 100;

/** Tells what came of it, in any case. True: it worked. */
export async function attempt(act: () => Promise<unknown>, done: string): Promise<boolean> {
  try {
    await act();
    tell(done);
    refresh();
    return true;
  } catch (error) {
    complain(error);
    return false;
  }
}

/** What cannot be undone is asked first: a job that was ended in its middle cannot go on there. */
export async function actOnJob(verb: Verb, job: Job): Promise<boolean> {
  const { id, state } = job;
  if (verb === 'retry' && job.at_most_once && job.started_at !== null && !(await askToStartAgain(id)))
    return false;
  const cancels = verb === 'cancel' && state === 'processing';
  const asked = {
    title: cancels ? ACTING.cancelTitle(id) : ACTING.deleteTitle(id),
    detail: cancels ? ACTING.cancelDetail : ACTING.deleteDetail,
    cli: actCommand(verb, { ids: [id] }),
    button: cancels ? ACTING.cancelButton : ACTIONS.delete.label,
    danger: true,
    word: null,
  };
  if ((cancels || verb === 'delete') && !(await ask(asked))) return false;
  const path = `/jobs/${part(id)}`;
  return attempt(
    () => (verb === 'delete' ? send('DELETE', path) : send('POST', `${path}/${verb}`)),
    ACTING.done(id, ACTIONS[verb].past),
  );
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

/** A job that waits for its time is due at once. */
export function promote(id: string): Promise<boolean> {
  // Now is when the server says: the clock of a browser may be another.
  return attempt(() => send('PATCH', `/jobs/${part(id)}`, { run_at: '+0s' }), ACTING.dueNow(id));
}

export type Selected = { ids: string[] } | { filter: Filter; count: number; capped: boolean };

/** On many jobs: asked first, then watched until it is done. */
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
    complain(error);
    return false;
  }
}
