import { appendFileSync, mkdirSync } from 'node:fs';
import { crashPoint } from '../../core/crash-point.ts';
import { QueueError } from '../../core/errors.ts';
import { checkId, checkName, checkQueueName } from '../../core/jobs/id.ts';
import { cronReader } from '../../core/schedules/fire-times.ts';
import { parseSetting } from '../../core/settings/setting-names.ts';
import { SETTINGS } from '../../core/settings/settings.ts';
import { knownZone } from '../../core/time/zone.ts';
import { createRowConverter } from '../../core/wire/older-rows.ts';
import { sync } from '../../files/durable.ts';
import { filesOfAttempt, pathsOf, removeFiles, streamFiles } from '../../state/attempt-files.ts';
import type { ExportedFilePart, ExportedRow, LoadCounts, LoadOptions } from '../../store/contract/care.ts';
import { type App, currentSettings } from '../app.ts';
import { splitLines } from '../jobs/parse-jobs.ts';
import { settlementOfLost } from '../jobs/settlement.ts';
import { EXPORT_VERSION } from './export.ts';

/** The codes of errors that concern one line of the file. */
const LINE_ERRORS = ['import-invalid', 'import-conflict', 'invalid-job', 'invalid-value', 'invalid-cron'];

/**
 * Imports an export with its long outputs, in one transaction. `onConflict` decides about rows whose id or name exists. Also returns
 * notes for the user.
 */
export async function importLines(
  app: App,
  chunks: Iterable<string>,
  options: Pick<LoadOptions, 'onConflict' | 'beforeCommit'>,
): Promise<LoadCounts & { notes: string[] }> {
  const settings = await currentSettings(app);
  const readCron = await cronReader();
  const written: Written = new Map();
  let lineNumber = 0;
  let converter = createRowConverter();
  const removeWritten = (): void => {
    for (const files of written.values()) removeFiles(files);
    written.clear();
  };
  const rows = {
    *[Symbol.iterator](): Generator<ExportedRow | ExportedFilePart> {
      // The store may read the rows again from the start. Then the output files of the earlier pass are removed.
      removeWritten();
      let hasEnded = false;
      let rowCount = 0;
      lineNumber = 0;
      converter = createRowConverter();
      for (const { text } of splitLines(chunks, () => invalidImport('the line is too long'))) {
        lineNumber++;
        if (text.trim() === '') continue;
        if (hasEnded) throw invalidImport('there is data after the end marker');
        const [kind, value] = parseLine(text);
        if (lineNumber === 1) checkHeader(kind, value);
        else if (kind === 'end') {
          checkEnd(value, rowCount);
          hasEnded = true;
        } else if (kind === 'file') yield checkedFilePart(value);
        else {
          rowCount++;
          for (const row of converter.convert(readRow(kind, value))) yield checkedRow(row, readCron);
        }
      }
      if (!hasEnded) throw invalidImport(lineNumber === 0 ? 'the file is empty' : 'the file is incomplete');
      // The files must be on disk before the commit, which follows the last row.
      syncWritten(written);
    },
  };
  try {
    const loaded = await app.store.load(rows, {
      ...options,
      settleLost: settlementOfLost(settings, app.clock.now(), app.random),
      keepFile: (file) => addOutput(app, file, written),
    });
    app.wakeups.wake();
    app.wakeups.tellChange();
    return { ...loaded, notes: converter.notes() };
  } catch (error) {
    removeWritten();
    if (!(error instanceof QueueError && LINE_ERRORS.includes(error.code)) || lineNumber === 0) throw error;
    throw new QueueError(error.code, `line ${lineNumber}: ${error.message}`, error.hint ?? undefined);
  }
}

/** Returns the kind of a line, which is its first key, with the value of that key. A header is returned as a whole. */
function parseLine(text: string): [kind: string, value: Record<string, unknown>] {
  let object: unknown;
  try {
    object = JSON.parse(text);
  } catch {
    throw invalidImport('this is not valid JSON');
  }
  if (object === null || typeof object !== 'object' || Array.isArray(object))
    throw invalidImport('this is not a JSON object');
  const [first] = Object.entries(object);
  if (first === undefined) throw invalidImport('the JSON object is empty');
  if (first[0] === 'queuectl') return ['queuectl', object as Record<string, unknown>];
  const [kind, value] = first;
  if (value === null || typeof value !== 'object') throw invalidImport(`'${kind}' is not a JSON object`);
  return [kind, value as Record<string, unknown>];
}

function checkHeader(kind: string, header: Record<string, unknown>): void {
  if (kind !== 'queuectl' || header.queuectl !== 'export')
    throw invalidImport('this is not a queuectl export');
  if (header.version !== EXPORT_VERSION) {
    throw invalidImport(
      `the export has format ${header.version}; this version of queuectl reads format ${EXPORT_VERSION}`,
    );
  }
}

function checkEnd({ rows }: Record<string, unknown>, count: number): void {
  if (rows !== count) throw invalidImport(`expected ${rows} rows, but found ${count}`);
}

function readRow(table: string, value: Record<string, unknown>): ExportedRow {
  const row: ExportedRow['row'] = {};
  for (const [column, one] of Object.entries(value)) row[column] = decode(column, one);
  return { table, row };
}

/** Returns a row for the store. Checks its names and settings. The schema of the store checks the rest. */
function checkedRow({ table, row }: ExportedRow, readCron: (expression: string) => unknown): ExportedRow {
  if (table === 'job') checkId(String(row.id), 'id');
  if (table === 'queue') checkQueueName(String(row.name), 'queue name');
  if (table === 'schedule') {
    checkName(String(row.name), 'schedule name');
    if (row.cron != null) readCron(String(row.cron));
    if (row.zone != null && knownZone(String(row.zone)) === null)
      throw invalidImport(`unknown time zone '${row.zone}' of schedule '${row.name}'`);
  }
  if (table === 'setting' && String(row.key) in SETTINGS) parseSetting(String(row.key), String(row.value));
  return { table, row };
}

function decode(column: string, value: unknown): ExportedRow['row'][string] {
  if (value === null || typeof value === 'string' || typeof value === 'number') return value;
  const { base64 } = value as { base64?: unknown };
  if (typeof base64 !== 'string') throw invalidImport(`'${column}' is neither text nor a number`);
  return Buffer.from(base64, 'base64');
}

function checkedFilePart({ attempt, stream = 'stdout', base64 }: Record<string, unknown>): ExportedFilePart {
  if (!Number.isSafeInteger(attempt) || typeof base64 !== 'string')
    throw invalidImport('a file entry has no attempt or no content');
  if (stream !== 'stdout' && stream !== 'stderr')
    throw invalidImport('the stream of a file entry must be stdout or stderr');
  return { attempt: attempt as number, stream, bytes: Buffer.from(base64, 'base64') };
}

/** The files that an import has written, by attempt. They are removed if the import fails. */
type Written = Map<number, ReturnType<typeof filesOfAttempt>>;

/** Appends output to the file of its attempt. Adds the files of the attempt to `written`. */
function addOutput(app: App, { attempt, stream, bytes }: ExportedFilePart, written: Written): void {
  let files = written.get(attempt);
  if (files === undefined) {
    files = filesOfAttempt(app, attempt);
    removeFiles(files);
    written.set(attempt, files);
    crashPoint('before-import-output');
    mkdirSync(app.stateDirectory.attempts, { recursive: true, mode: 0o700 });
  }
  crashPoint('in-import-output');
  appendFileSync(streamFiles(files, stream).output, bytes, { mode: 0o600 });
  crashPoint('after-import-output');
}

/** Makes the output files survive a power cut. */
function syncWritten(written: Written): void {
  const [first] = written.values();
  if (first === undefined) return;
  for (const files of written.values()) for (const path of pathsOf(files)) sync(path);
  sync(first.state.attempts);
}

function invalidImport(why: string): QueueError {
  return new QueueError('import-invalid', why);
}
