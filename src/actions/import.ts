import { appendFileSync, mkdirSync } from 'node:fs';
import { crashPoint } from '../core/crash-point.ts';
import { QueueError } from '../core/errors.ts';
import { checkId, checkName, checkQueueName } from '../core/id.ts';
import { parseSetting } from '../core/setting-names.ts';
import { SETTINGS } from '../core/settings.ts';
import { sync } from '../files/durable.ts';
import { filesOf, newPlace, outputPlaceIn, type Place, placeOfAttempt, removePlace } from '../state/place.ts';
import type {
  ExportedFilePart,
  ExportedRow,
  LoadCounts,
  LoadOptions,
  LoadVerifier,
} from '../store/contract/care.ts';
import { type App, currentSettings } from './app.ts';
import { EXPORT_VERSION, outputParts } from './export.ts';
import { settlementOfLost } from './settlement.ts';
import { splitLines } from './split-chunks.ts';

/** The codes of errors that concern one line of the file. */
const LINE_ERRORS = ['import-invalid', 'import-conflict', 'invalid-job', 'invalid-value'];

export interface ImportOptions extends Pick<LoadOptions, 'onConflict' | 'mark'> {
  /** Checks the imported rows, and the output files that were written, before the commit. */
  verify?(): LoadVerifier & { file(part: ExportedFilePart): void };
}

/** Imports an export with its long outputs, in one transaction. `onConflict` decides about rows whose id or name exists. */
export async function importLines(
  app: App,
  chunks: Iterable<string>,
  { onConflict, mark, verify }: ImportOptions,
): Promise<LoadCounts> {
  const settings = await currentSettings(app);
  const places = new Map<number, Place>();
  let lineNumber = 0;
  const removePlaces = (): void => {
    for (const place of places.values()) removePlace(place);
    places.clear();
  };
  const rows = {
    *[Symbol.iterator](): Generator<ExportedRow | ExportedFilePart> {
      // The store may read the rows again from the start. Then the output files of the earlier pass are removed.
      removePlaces();
      let hasEnded = false;
      let rowCount = 0;
      lineNumber = 0;
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
          yield checkedRow(kind, value);
        }
      }
      if (!hasEnded) throw invalidImport(lineNumber === 0 ? 'the file is empty' : 'the file is incomplete');
    },
  };
  try {
    const loaded = await app.store.load(rows, {
      onConflict,
      ...(mark !== undefined && { mark }),
      ...(verify !== undefined && { verify: () => withFiles(verify(), places) }),
      settleLost: settlementOfLost(settings, app.clock.now(), app.random),
      keepFile: (file) => addOutput(app, file, places),
    });
    app.signals.wake();
    app.signals.tellChange();
    return loaded;
  } catch (error) {
    removePlaces();
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

/** Returns a row for the store. Checks its names and settings. The schema of the store checks the rest. */
function checkedRow(table: string, value: Record<string, unknown>): ExportedRow {
  const row: ExportedRow['row'] = {};
  for (const [column, one] of Object.entries(value)) row[column] = decode(column, one);
  if (table === 'job') checkId(String(row.id), 'id');
  if (table === 'queue') checkQueueName(String(row.name), 'queue name');
  if (table === 'schedule') checkName(String(row.name), 'schedule name');
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

/** Appends output to the file of its attempt. Adds the place of the attempt to `places`, which are removed if the import fails. */
function addOutput(app: App, { attempt, stream, bytes }: ExportedFilePart, places: Map<number, Place>): void {
  let place = places.get(attempt);
  if (place === undefined) {
    removePlace(placeOfAttempt(app, attempt));
    place = newPlace(app.stateDirectory, app.store.epoch, attempt);
    places.set(attempt, place);
    crashPoint('before-import-output');
    mkdirSync(app.stateDirectory.attempts, { recursive: true, mode: 0o700 });
  }
  crashPoint('in-import-output');
  appendFileSync(outputPlaceIn(place, stream).output, bytes, { mode: 0o600 });
  crashPoint('after-import-output');
}

/** Returns a verifier that also gets the contents of the output files. */
function withFiles(
  verifier: ReturnType<NonNullable<ImportOptions['verify']>>,
  places: ReadonlyMap<number, Place>,
): LoadVerifier {
  return {
    row: verifier.row,
    end() {
      for (const [attempt, place] of places) {
        for (const file of filesOf(place)) sync(file);
        for (const part of outputParts(place, attempt)) verifier.file(part);
      }
      const [place] = places.values();
      if (place !== undefined) sync(place.state.attempts);
      verifier.end();
    },
  };
}

function invalidImport(why: string): QueueError {
  return new QueueError('import-invalid', why);
}
