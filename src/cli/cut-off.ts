import type { App } from '../actions/app.ts';
import type { Io } from './io.ts';
import { printable } from './text.ts';

const NAMED = 5;

/** Jobs that were cancelled together with one that is retried stay so: whoever retries it has to know. */
export async function noteCutOff(io: Io, app: App, retried: string[]): Promise<void> {
  const cut = new Set<string>();
  for (const id of retried) for (const child of await app.store.cutOff(id)) cut.add(child);
  for (const id of retried) cut.delete(id);
  if (cut.size === 0) return;
  const named = [...cut].slice(0, NAMED).map(printable).join(' ');
  const which = cut.size === 1 ? 'a job that waited for it stays' : `${cut.size} jobs that waited stay`;
  io.warn(`${which} cancelled: queuectl retry ${named}${cut.size > NAMED ? ' …' : ''}`);
}
