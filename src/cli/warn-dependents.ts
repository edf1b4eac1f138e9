import type { App } from '../actions/app.ts';
import { cutOffBy, parentsOf } from '../actions/jobs.ts';
import { countOf } from '../core/words.ts';
import type { Io } from './io.ts';
import { printable } from './text.ts';

const NAMED = 5;
/** Only this many jobs are checked one by one, because nobody reads more names. */
const LOOKED_AT = 1000;

/** Warns about dependent jobs that stay cancelled after their parent is retried, and about parents that failed. */
export async function warnStillCancelled(io: Io, app: App, retried: string[]): Promise<void> {
  const cut = await cutOffBy(app, retried, LOOKED_AT);
  if (cut.length > 0)
    io.warn(
      `${dependents(cut)} ${cut.length === 1 ? 'stays' : 'stay'} cancelled; to retry: queuectl retry ${named(cut)}`,
    );
  for (const id of retried.slice(0, LOOKED_AT)) {
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

function dependents(cut: string[]): string {
  return countOf(cut.length, 'dependent job');
}

/** Returns the first ids, separated by spaces, so that they can be pasted into a command. */
export function named(cut: string[]): string {
  return cut.slice(0, NAMED).map(printable).join(' ') + (cut.length > NAMED ? ' …' : '');
}
