import { closeSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../core/errors.ts';
import { newDraft, removeDraft } from '../files/drafts.ts';
import { syncFile } from '../files/durable.ts';
import { putInPlace, refuseExisting, refuseUnwritable } from '../files/save-as.ts';
import { writeAll } from '../files/write-all.ts';
import { careOf } from '../store/open.ts';
import type { App } from './app.ts';
import { exportLines } from './export.ts';

const BUFFER = 256 * 1024;

type Counts = Awaited<ReturnType<typeof exportLines>>;

/** Exports the queue. Collects lines, because writing each one would need a system call. */
export async function exportTo(app: App, out: (text: string) => void, onLine?: () => void): Promise<Counts> {
  let text = '';
  const flush = (): void => {
    if (text !== '') out(text);
    text = '';
  };
  const counts = await exportLines(app, (line) => {
    text += line;
    if (text.length > BUFFER) flush();
    onLine?.();
  });
  flush();
  return counts;
}

/** Exports the queue to a file, which gets its name when it is complete and on disk. `force` overwrites a file. */
export async function exportToFile(
  app: App,
  location: string,
  file: string,
  force: boolean,
  onLine: () => void,
): Promise<{ file: string } & Counts> {
  const target = resolve(file);
  refuseUnwritable(dirname(target));
  if (!force) refuseExisting(target);
  (await careOf(location)).refuseOverwriting(target, location);
  const draft = newDraft(target);
  try {
    const out = openSync(draft, 'wx', 0o600);
    const counts = await exportTo(app, (text) => writeAll(out, text), onLine);
    closeSync(out);
    syncFile(draft);
    putInPlace(draft, target, force);
    syncFile(target);
    return { file: target, ...counts };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof QueueError || code === undefined) throw error;
    throw new QueueError(
      code === 'ENOSPC' ? 'disk-full' : 'no-such-file',
      `cannot write ${target}: ${message.replace(draft, target)}`,
    );
  } finally {
    removeDraft(draft);
  }
}
