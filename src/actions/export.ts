import { outputPieces } from '../state/output.ts';
import { outputIn, placeOf } from '../state/place.ts';
import type { ExportedRow } from '../store/contract/care.ts';
import type { App } from './app.ts';

/** Rises when an older queuectl could not read the lines any more. */
export const EXPORT_VERSION = 1;
const CHUNK = 48 * 1024;

/** Everything, a line of JSON at a time: a header, the rows, the long outputs behind their attempts, and how many it were. */
export async function exportLines(
  app: App,
  write: (line: string) => void,
): Promise<{ rows: number; jobs: number }> {
  const counts = { rows: 0, jobs: 0 };
  const line = (object: object): void => write(`${JSON.stringify(object)}\n`);
  line({ queuectl: 'export', version: EXPORT_VERSION, epoch: app.store.epoch });
  await app.store.dump(({ table, row }) => {
    line({ [table]: encode(row) });
    counts.rows++;
    if (table === 'job') counts.jobs++;
    if (table === 'attempt' && row.finished_at !== null && Number(row.output_bytes) > 0)
      writeOutput(app, Number(row.number), line);
  });
  line({ end: counts });
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

/** Output that is kept in the store comes with its row: then there is no file. */
function writeOutput(app: App, attempt: number, line: (object: object) => void): void {
  const { directory } = placeOf(app.stateDirectory, app.store.epoch, attempt);
  for (const stream of ['stdout', 'stderr'] as const) {
    // Of output that is not split nothing is said: it is all of it.
    const which = stream === 'stderr' ? { stream } : {};
    for (const piece of outputPieces(outputIn(directory, stream))) {
      for (let at = 0; at < piece.length; at += CHUNK) {
        const base64 = Buffer.from(piece.subarray(at, at + CHUNK)).toString('base64');
        line({ file: { attempt, ...which, base64 } });
      }
    }
  }
}
