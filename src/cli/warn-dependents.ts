import type { App } from '../actions/app.ts';
import { cancelledBecauseOf, parentsOf } from '../actions/jobs.ts';
import { countOf } from '../core/words.ts';
import type { Io } from './io.ts';
import { printable } from './text.ts';

const NAMED_JOBS = 5;
/** Only this many of the given jobs are checked, because nobody reads more warnings. */
const MAX_CHECKED = 1000;

/** Warns about dependent jobs that stay cancelled after a retry, and about retried jobs that no longer wait for a parent. */
export async function warnStillCancelled(io: Io, app: App, retried: string[]): Promise<void> {
  const ids = await cancelledBecauseOf(app, retried, MAX_CHECKED);
  if (ids.length > 0)
    io.warn(
      `${dependents(ids)} ${ids.length === 1 ? 'stays' : 'stay'} cancelled; to retry ${ids.length === 1 ? 'it' : 'them'}: queuectl retry ${named(ids)}`,
    );
  for (const id of retried.slice(0, MAX_CHECKED)) {
    const parents = (await parentsOf(app, id)).filter((parent) => parent.phase === 'failed');
    const gone = parents.map((parent) => `${parent.id} (${parent.state ?? 'deleted'})`).join(', ');
    if (gone !== '') io.warn(`job ${printable(id)} no longer waits for ${printable(gone)}`);
  }
}

/** Describes the jobs that are cancelled with others: `2 jobs that depend on them`. */
export function thatDepend(lost: string[], verb: 'depend' | 'depended', parents: number): string {
  const on = parents === 1 ? 'it' : 'them';
  return `${countOf(lost.length)} that ${lost.length === 1 && verb === 'depend' ? 'depends' : verb} on ${on}`;
}

/** Tells scripts about jobs that are cancelled with others. stdout has only the ids of those they named. */
export function warnAlsoCancelled(io: Io, verb: string, lost: string[]): void {
  if (lost.length > 0) io.warn(`${verb} ${dependents(lost)}: ${named(lost)}`);
}

function dependents(ids: string[]): string {
  return countOf(ids.length, 'dependent job');
}

/** Returns the first ids, separated by spaces, so that they can be pasted into a command. */
export function named(ids: string[]): string {
  return ids.slice(0, NAMED_JOBS).map(printable).join(' ') + (ids.length > NAMED_JOBS ? ' …' : '');
}
