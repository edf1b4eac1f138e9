import type { App } from '../actions/app.ts';
import { cancelledDueTo, parentsOf } from '../actions/jobs.ts';
import { countOf } from '../core/words.ts';
import type { Io } from './io.ts';
import { printable } from './text.ts';

const NAMED = 5;
/** Only this many jobs are checked one by one, because nobody reads more names. */
const LOOKED_AT = 1000;

/** Warns about dependent jobs that stay cancelled after their parent is retried, and about parents that failed. */
export async function warnStillCancelled(io: Io, app: App, retried: string[]): Promise<void> {
  const cut = await cancelledDueTo(app, retried, LOOKED_AT);
  if (cut.length > 0)
    io.warn(
      `${dependents(cut)} ${cut.length === 1 ? 'stays' : 'stay'} cancelled; to retry ${cut.length === 1 ? 'it' : 'them'}: queuectl retry ${named(cut)}`,
    );
  for (const id of retried.slice(0, LOOKED_AT)) {
    const parents = (await parentsOf(app, id)).filter((parent) => parent.phase === 'failed');
    const gone = parents.map((parent) => `${parent.id} (${parent.state ?? 'deleted'})`).join(', ');
    if (gone !== '') io.warn(`job ${printable(id)} no longer waits for ${printable(gone)}`);
  }
}

/** Warns about dependent jobs that were cancelled together with their parents. */
export async function warnAlsoCancelled(io: Io, app: App, cancelled: string[]): Promise<void> {
  const cut = await cancelledDueTo(app, cancelled, LOOKED_AT);
  if (cut.length > 0) io.warn(`also cancelled ${dependents(cut)}: ${named(cut)}`);
}

function dependents(cut: string[]): string {
  return countOf(cut.length, 'dependent job');
}

function named(cut: string[]): string {
  return cut.slice(0, NAMED).map(printable).join(' ') + (cut.length > NAMED ? ' …' : '');
}
