import { get, part, send } from '../frame/api.ts';
import { actCommand } from '../frame/cli.ts';
import { refresh } from '../frame/live.ts';
import { track } from '../frame/operations.ts';
import { ask } from '../frame/question.ts';
import { number, plural } from '../parts/format.ts';
import { notify, notifyError } from '../parts/toasts.ts';
import type { Children, Job, Operation, OperationPreview, State } from '../types.ts';
import { ACTING, ACTIONS } from '../words/jobs.ts';
import { type Filter, filterBody } from './filter.ts';

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

/** The server counts at most this many children of a job. */
export const MOST_CHILDREN = 1000;

/** An action on more jobs than this has to be confirmed by typing their number. */
export const TYPED_ABOVE = 100;

/** Runs an action and reports its result. `done` is the text, or makes it from the answer. Returns true if it succeeded. */
export async function runAction<T>(
  act: () => Promise<T>,
  done: string | ((answer: T) => string),
): Promise<boolean> {
  try {
    const answer = await act();
    notify(typeof done === 'string' ? done : done(answer));
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
  if ((cancels || verb === 'delete') && !(await askToEnd(verb, id))) return false;
  const path = `/jobs/${part(id)}`;
  const { past } = ACTIONS[verb];
  return runAction(
    () => send<Acted>(verb === 'delete' ? 'DELETE' : 'POST', verb === 'delete' ? path : `${path}/${verb}`),
    ({ also_cancelled: also = [] }) =>
      also.length === 0
        ? ACTING.done(id, past)
        : ACTING.doneWith(id, past, plural(also.length, ACTING.dependent, ACTING.dependents)),
  );
}

/** The part of the answer to an action that lists the other jobs that were cancelled. */
interface Acted {
  also_cancelled?: string[];
}

/** Asks before a running job is stopped or a job is deleted. */
async function askToEnd(verb: 'cancel' | 'delete', id: string): Promise<boolean> {
  const cancels = verb === 'cancel';
  return ask({
    title: cancels ? ACTING.cancelTitle(id) : ACTING.deleteTitle(id),
    detail: (cancels ? ACTING.cancelDetail : ACTING.deleteDetail) + (await warningFor(verb, id)),
    cli: actCommand(verb, { ids: [id] }),
    button: cancels ? ACTING.cancelButton : ACTIONS.delete.label,
    danger: true,
    word: null,
  });
}

/** Tells how many other jobs are cancelled if the job is cancelled or deleted. Returns an empty text if there are none. */
async function warningFor(verb: 'cancel' | 'delete', id: string): Promise<string> {
  try {
    const answer = await get<Children>(`/jobs/${part(id)}/children`);
    const lost = verb === 'delete' ? answer.cancelled_if_deleted : answer.cancelled_with_it;
    return alsoCancelsText(lost, lost >= MOST_CHILDREN, ACTING.dependent, ACTING.dependents);
  } catch {
    return ACTING.mayCancel;
  }
}

/** Does the same for a bulk action. */
async function bulkWarningFor(body: Record<string, unknown>): Promise<string> {
  try {
    const answer = await send<OperationPreview>('POST', '/operations', { ...body, dry_run: true });
    return alsoCancelsText(
      answer.also_cancelled,
      answer.capped,
      ACTING.dependentOfMany,
      ACTING.dependentsOfMany,
    );
  } catch {
    return ACTING.mayCancelMany;
  }
}

function alsoCancelsText(count: number, capped: boolean, one: string, many: string): string {
  if (count === 0) return capped ? ACTING.mayCancelMany : '';
  return ACTING.alsoCancels(capped ? ACTING.countOrMore(number(count), many) : plural(count, one, many));
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
  const which = 'ids' in on ? { ids: on.ids } : { filter: filterBody(on.filter) };
  const body = { action: verb, ...which, ...(changes === undefined ? {} : { changes }) };
  const yes = await ask({
    title: `${ACTIONS[verb].label} ${many}?`,
    detail: ACTIONS[verb].bulk + (danger ? await bulkWarningFor(body) : ''),
    cli: actCommand(verb, on, flags),
    button: `${ACTIONS[verb].label} ${many}`,
    danger,
    word: danger && count > TYPED_ABOVE ? typed : null,
  });
  return yes && startOperation(body);
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
