import type { App } from '../actions/app.ts';
import { cutOffBy, parentsOf } from '../actions/jobs.ts';
import type { Io } from './io.ts';
import { printable } from './text.ts';

const NAMED = 5;
/** Looked at one by one: of more, nobody reads the names anyway. */
const LOOKED_AT = 1000;

/** Jobs that were cancelled together with one that is retried stay so: whoever retries it has to know. */
export async function noteCutOff(io: Io, app: App, retried: string[]): Promise<void> {
  const cut = await cutOffBy(app, retried, LOOKED_AT);
  if (cut.length > 0)
    io.warn(`${count(cut)} stays cancelled; queuectl retry ${named(cut)}`.replace(PLURAL, 'stay'));
  for (const id of retried.slice(0, LOOKED_AT)) {
    const parents = (await parentsOf(app, id)).filter((parent) => parent.phase === 'failed');
    const gone = parents.map((parent) => `${parent.id} (${parent.state ?? 'deleted'})`).join(', ');
    if (gone !== '') io.warn(`${printable(id)} no longer waits for ${printable(gone)}`);
  }
}

/** The same of those that were cancelled just now: one word ended them all. */
export async function noteAlong(io: Io, app: App, cancelled: string[]): Promise<void> {
  const cut = await cutOffBy(app, cancelled, LOOKED_AT);
  if (cut.length > 0) io.warn(`${count(cut)} was cancelled, too: ${named(cut)}`.replace(PLURAL, 'were'));
}

const PLURAL = /(?<=^\d+ jobs that waited )(stays|was)/;

function count(cut: string[]): string {
  return cut.length === 1 ? 'a job that waited for it' : `${cut.length} jobs that waited`;
}

function named(cut: string[]): string {
  return cut.slice(0, NAMED).map(printable).join(' ') + (cut.length > NAMED ? ' …' : '');
}
