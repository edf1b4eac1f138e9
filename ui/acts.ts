import { part, send } from './api.ts';
import { ask } from './asking.ts';
import { actCommand } from './cli.ts';
import { type Filter, filterBody } from './filter.ts';
import { number, plural } from './format.ts';
import { refresh } from './live.ts';
import { track } from './operations.ts';
import { complain, tell } from './toasts.ts';
import type { Job, Operation, State } from './types.ts';

export const VERBS = ['retry', 'cancel', 'hold', 'release', 'delete'] as const;
export type Verb = (typeof VERBS)[number];

const DONE: Record<Verb, string> = {
  ...{ retry: 'is back in its queue', cancel: 'is cancelled', hold: 'is held', release: 'goes on' },
  delete: 'is gone',
};
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
    title: `${cancels ? 'Cancel' : 'Delete'} job ${id}?`,
    detail: cancels ? 'It runs, and is ended where it is.' : 'The job and its output are removed for good.',
    ...{ cli: actCommand(verb, { ids: [id] }), button: cancels ? 'Cancel the job' : 'Delete' },
    ...{ danger: true, word: null },
  };
  if ((cancels || verb === 'delete') && !(await ask(asked))) return false;
  const path = `/jobs/${part(id)}`;
  return attempt(
    () => (verb === 'delete' ? send('DELETE', path) : send('POST', `${path}/${verb}`)),
    `Job ${id} ${DONE[verb]}`,
  );
}

function askToStartAgain(id: string): Promise<boolean> {
  return ask({
    title: `Start job ${id} again?`,
    detail: 'The job is marked at most once and was started before. Retrying it starts it another time.',
    ...{ cli: actCommand('retry', { ids: [id] }), button: 'Start it again', danger: false, word: null },
  });
}

/** A job that waits for its time is due at once. */
export function promote(id: string): Promise<boolean> {
  // Now is when the server says: the clock of a browser may be another.
  return attempt(() => send('PATCH', `/jobs/${part(id)}`, { run_at: '+0s' }), `Job ${id} is due now`);
}

export type Selected = { ids: string[] } | { filter: Filter; count: number; capped: boolean };

/** On many jobs: asked first, then watched until it is done. */
export async function actOnMany(
  verb: Verb | 'edit',
  on: Selected,
  changes?: Record<string, unknown>,
): Promise<boolean> {
  const count = 'ids' in on ? on.ids.length : on.count;
  const many = 'capped' in on && on.capped ? `${number(count)} or more jobs` : plural(count, 'job');
  const typed = 'capped' in on && on.capped ? verb : String(count);
  const danger = verb === 'delete' || verb === 'cancel';
  const flags = Object.entries(changes ?? {}).flatMap(([field, value]) => [
    `--${field === 'queue' ? 'set-queue' : field}`,
    String(value),
  ]);
  const yes = await ask({
    title: `${verb[0]!.toUpperCase()}${verb.slice(1)} ${many}?`,
    detail: detailOf(verb),
    cli: actCommand(verb, on, flags),
    button: `${verb[0]!.toUpperCase()}${verb.slice(1)} ${many}`,
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

function detailOf(verb: Verb | 'edit'): string {
  switch (verb) {
    case 'delete':
      return 'Jobs that are not running are removed for good, with their output.';
    case 'cancel':
      return 'Waiting jobs will not run; running ones are ended.';
    case 'retry':
      return 'Dead, cancelled and failed jobs go back into their queues, with all their attempts. At-most-once jobs that were started before are skipped.';
    case 'hold':
      return 'Waiting jobs stay where they are until they are released.';
    case 'release':
      return 'Held jobs go on.';
    default:
      return 'Jobs that wait are changed; others stay as they are.';
  }
}
