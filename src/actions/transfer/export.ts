import { closeSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { QueueError } from '../../core/errors.ts';
import { syncFile } from '../../files/durable.ts';
import { putInPlace, refuseExisting, refuseUnwritable } from '../../files/save-as.ts';
import { newDraft, removeDraft, writeAll } from '../../files/write.ts';
import { filesOfAttempt, streamFiles } from '../../state/attempt-files.ts';
import { outputPieces } from '../../state/output.ts';
import type { ExportedFilePart, ExportedRow } from '../../store/contract/care.ts';
import { careOf } from '../../store/open.ts';
import type { App } from '../app.ts';

/** The version of the export format. It increases when older versions of queuectl cannot read the new format. */
export const EXPORT_VERSION = 1;
/** One line holds at most this many bytes of output. */
const CHUNK_BYTES = 48 * 1024;
/** Lines are collected until they have more characters than this, to save system calls. */
const BUFFER_LENGTH = 256 * 1024;

/** Functions that are called during an export. */
export interface ExportObserver {
  /** Is called for each line. */
  onLine?(): void;
  /** Is called with each row. Returns the row to write in its place. */
  onRow?(row: ExportedRow): ExportedRow;
  /** Is called with each part of an output file. */
  onFile?(part: ExportedFilePart): void;
}

/** Passes the contents of the store to `write` as JSON lines, many in one call. */
export async function exportTo(app: App, write: (text: string) => void, observer: ExportObserver = {}) {
  const counts = { rows: 0, jobs: 0 };
  /** The attempts whose output files are on this host. */
  const filed = new Set<number>();
  let text = '';
  const writeLine = (object: object): void => {
    text += `${JSON.stringify(object)}\n`;
    observer.onLine?.();
    if (text.length <= BUFFER_LENGTH) return;
    write(text);
    text = '';
  };
  writeLine({ queuectl: 'export', version: EXPORT_VERSION, epoch: app.store.epoch });
  const writePart = (part: ExportedFilePart): void => {
    for (const chunk of chunksOf(part)) {
      observer.onFile?.(chunk);
      writeLine({ file: encodeFilePart(chunk) });
    }
  };
  const keepRow = (given: ExportedRow): void => {
    const { table, row } = observer.onRow?.(given) ?? given;
    writeLine({ [table]: encode(row) });
    counts.rows++;
    if (table === 'job') counts.jobs++;
    if (table !== 'attempt' || row.finished_at === null || Number(row.output_bytes) === 0) return;
    const attempt = Number(row.number);
    if (exportOutputFiles(app, attempt, writePart)) filed.add(attempt);
  };
  // If output is in a file of another host, only what that host has shared can be exported.
  await app.store.dump(keepRow, (part) => {
    if (!filed.has(part.attempt)) writePart(part);
  });
  writeLine({ end: counts });
  write(text);
  return counts;
}

function encode(row: ExportedRow['row']): object {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value,
    ]),
  );
}

/** Writes the output files of an attempt. Short output is in a row instead. Returns whether the attempt has files. */
function exportOutputFiles(app: App, attempt: number, write: (part: ExportedFilePart) => void): boolean {
  let hasFile = false;
  const files = filesOfAttempt(app, attempt);
  for (const stream of ['stdout', 'stderr'] as const)
    for (const bytes of outputPieces(streamFiles(files, stream))) {
      write({ attempt, stream, bytes });
      hasFile = true;
    }
  return hasFile;
}

function* chunksOf({ bytes, ...part }: ExportedFilePart): Iterable<ExportedFilePart> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES)
    yield { ...part, bytes: bytes.subarray(at, at + CHUNK_BYTES) };
}

function encodeFilePart({ attempt, stream, bytes }: ExportedFilePart): object {
  // The field `stream` is left out for stdout, because that file also holds output that is not split.
  const streamField = stream === 'stderr' ? { stream } : {};
  return { attempt, ...streamField, base64: Buffer.from(bytes).toString('base64') };
}

/** Exports the store to a file, which gets its name when it is complete and on disk. `force` replaces an existing file. */
export async function exportToFile(
  app: App,
  location: string,
  file: string,
  force: boolean,
  onLine: () => void,
) {
  const target = resolve(file);
  refuseUnwritable(dirname(target));
  if (!force) refuseExisting(target);
  (await careOf(location)).refuseOverwriting(target, location);
  const draft = newDraft(target);
  try {
    const descriptor = openSync(draft, 'wx', 0o600);
    const counts = await exportTo(app, (text) => writeAll(descriptor, text), { onLine });
    closeSync(descriptor);
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
