import type { App } from '../actions/app.ts';
import { cancelledBecauseOf, parentsOf } from '../actions/jobs.ts';
import { countOf } from '../core/words.ts';
import type { Io } from './io.ts';
import { printable } from './text.ts';

const NAMED_JOBS = 5;
/** Only this many of the given jobs are checked, because nobody reads more warnings. */
const MAX_CHECKED = 1000;

/** Warns about dependent jobs that stay cancelled after a retry, and about retried jobs that no longer wait for a parent. */
export async function warnAfterRetry(io: Io, app: App, retried: string[]): Promise<void> {
  const ids = await cancelledBecauseOf(app, retried, { limit: MAX_CHECKED });
  if (ids.length > 0)
    io.warn(
      `${describeDependents(ids)} ${ids.length === 1 ? 'stays' : 'stay'} cancelled; to retry ${ids.length === 1 ? 'it' : 'them'}: queuectl retry ${pasteableIds(ids)}`,
    );
  for (const id of retried.slice(0, MAX_CHECKED)) {
    const failedParents = (await parentsOf(app, id)).filter((parent) => parent.phase === 'failed');
    const named = failedParents.map((parent) => `${parent.id} (${parent.state ?? 'deleted'})`).join(', ');
    if (named !== '') io.warn(`job ${printable(id)} no longer waits for ${printable(named)}`);
  }
}

/** Describes dependent jobs, such as `2 jobs that depend on them`. `parents` is the number of jobs they depend on. */
export function dependentsPhrase(ids: string[], verb: 'depend' | 'depended', parents: number): string {
  const on = parents === 1 ? 'it' : 'them';
  return `${countOf(ids.length)} that ${ids.length === 1 && verb === 'depend' ? 'depends' : verb} on ${on}`;
}

/** Warns about dependent jobs that were or would be cancelled too, because stdout lists only the selected jobs. */
export function warnAlsoCancelled(io: Io, verb: string, ids: string[]): void {
  if (ids.length > 0) io.warn(`${verb} ${describeDependents(ids)}: ${pasteableIds(ids)}`);
}

function describeDependents(ids: string[]): string {
  return countOf(ids.length, 'dependent job');
}

/** Returns the first ids, separated by spaces, so that they can be pasted into a command. */
export function pasteableIds(ids: string[]): string {
  return ids.slice(0, NAMED_JOBS).map(printable).join(' ') + (ids.length > NAMED_JOBS ? ' …' : '');
}
