import { QueueError } from '../../core/errors.ts';
import { gapMark } from '../../state/output.ts';
import type { ExportedFilePart, ExportedRow, SharedFilePart } from '../contract/care.ts';
import { SAVED_TABLES } from '../tables.ts';
import { callerFunction, withCallerErrors } from './caller-error.ts';
import type { ServerConnection } from './connection.ts';
import { foldLog } from './fold.ts';
import { STORE_COLUMNS } from './schema.ts';
import * as sql from './sql/care.ts';
import type { Transaction } from './transaction.ts';

/**
 * Passes all rows to `keep`, as of one moment. Events that were logged since the last fold are included. Their figures are not,
 * because a fold adds them to packed counts.
 */
export async function dump(
  db: ServerConnection,
  keep: (row: ExportedRow) => void,
  keepPart: (part: SharedFilePart) => void = () => {},
): Promise<void> {
  await foldLog(db);
  const keepRow = callerFunction(keep);
  let hasBegun = false;
  const work = db.read(async (tx) => {
    // The rows that were kept before the connection was lost cannot be taken back.
    if (hasBegun)
      throw new QueueError(
        'store-unavailable',
        `the connection to ${db.location.name} was lost while its contents were read`,
        'run the command again',
      );
    await tx.run(sql.allowPauses);
    hasBegun = true;
    await dumpRows(tx, keepRow, callerFunction(keepPart));
  });
  await withCallerErrors(work);
}

/** Passes all rows to `keep`, and the shared output to `keepPart`, inside a transaction. */
async function dumpRows(
  tx: Transaction,
  keep: (row: ExportedRow) => void,
  keepPart: (part: SharedFilePart) => void,
): Promise<void> {
  for (const { name, key } of SAVED_TABLES) {
    for (const statement of [sql.rowsInOrder(name, key), ...(name === 'event' ? [sql.unfoldedEvents] : [])])
      for await (const row of tx.each(statement)) keep({ table: name, row: withoutOwn(name, row) });
    if (name === 'attempt') await dumpSharedOutput(tx, keepPart);
  }
}

/** Returns a row without the columns that other stores do not have. */
function withoutOwn(table: string, row: ExportedRow['row']): ExportedRow['row'] {
  const own = STORE_COLUMNS[table];
  if (own === undefined) return row;
  return Object.fromEntries(Object.entries(row).filter(([column]) => !own.includes(column)));
}

/** Passes the shared output of ended attempts to `keep`. Reads that of one attempt at a time, because parts are large. */
async function dumpSharedOutput(tx: Transaction, keep: (part: SharedFilePart) => void): Promise<void> {
  for await (const row of tx.each(sql.attemptsWithParts, ...tx.host())) {
    const attempt = Number(row.number);
    const file = row.directory === null ? null : { host: String(row.name), directory: String(row.directory) };
    let before = { stream: '', end: 0 };
    for (const part of await tx.all<ExportedFilePart & { at: number }>(sql.partsOfAttempt, attempt)) {
      const { stream, at, bytes } = part;
      const from = before.stream === stream ? before.end : 0;
      if (at > from) keep({ attempt, stream, bytes: gapMark({ from, to: at }), gap: { file } });
      keep({ attempt, stream, bytes });
      before = { stream, end: at + bytes.length };
    }
  }
}
