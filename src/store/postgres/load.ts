import type { ExportedFilePart, ExportedRow, LoadCounts, LoadOptions } from '../contract/care.ts';
import { type EndedParent, handleParentEnds } from '../parts/dependencies.ts';
import { settleAsLost } from '../parts/settle.ts';
import type { Engine } from '../steps.ts';
import { callerFunction, callerRows, withCallerErrors } from './caller-error.ts';
import type { ServerConnection } from './connection.ts';
import { postgresEngine, runSteps } from './engine.ts';
import { foldAll, lockFold } from './fold.ts';
import { createLoader, InvalidBatch } from './loader.ts';
import * as sql from './sql/care.ts';
import type { Transaction } from './transaction.ts';

type Rows = Iterable<ExportedRow | ExportedFilePart>;

/** Loads all rows in one transaction. Other writers wait until it has ended. */
export async function load(db: ServerConnection, rows: Rows, options: LoadOptions): Promise<LoadCounts> {
  const loadFrom = (firstSingle: number): Promise<LoadCounts> =>
    withCallerErrors(db.write('load', (tx) => loadRows(tx, postgresEngine(db), rows, options, firstSingle)));
  try {
    return await loadFrom(Number.POSITIVE_INFINITY);
  } catch (error) {
    if (!(error instanceof InvalidBatch)) throw error;
    // The rows of the batch are now inserted one by one, so that the error comes while its own row is the last one read.
    return loadFrom(error.firstRow);
  }
}

/** Loads rows inside a transaction. From the row with the index `firstSingle` on, they are inserted one by one. */
async function loadRows(
  tx: Transaction,
  engine: Engine,
  rows: Rows,
  { onConflict, settleLost, keepFile, mark }: LoadOptions,
  firstSingle: number,
): Promise<LoadCounts> {
  await lockFold(tx);
  await tx.run(sql.lockTables);
  // From now on no other transaction changes jobs, so the counters are exact after this fold.
  await foldAll(tx);
  const loader = await createLoader(tx, onConflict, firstSingle);
  const keep = callerFunction(keepFile);
  for (const one of callerRows(rows)) {
    if ('table' in one) await loader.add(one);
    else {
      const attempt = await loader.addedAttempt(one.attempt);
      if (attempt !== null) keep({ ...one, attempt });
    }
  }
  await loader.end();
  if (mark !== undefined) await tx.run(sql.setLoadMark, callerFunction(mark)(loader.counts));
  await recomputeDerived(tx, engine, loader.offsets.job!);
  // It is unknown how the jobs that were running in the other store ended.
  const running = await tx.all(sql.runningAbove, loader.offsets.job!);
  await runSteps(tx, settleAsLost(engine, running, settleLost));
  return loader.counts;
}

/** Recomputes values that follow from other rows. `highestOld` is the highest number of a job that was there before. */
async function recomputeDerived(tx: Transaction, engine: Engine, highestOld: number): Promise<void> {
  await tx.run(sql.recountRuns, highestOld);
  await tx.run(sql.recountBlockers, highestOld);
  await tx.run(sql.fixBlockedPhases, highestOld);
  await tx.run(sql.markParents, highestOld);
  await tx.run(sql.deleteCounters);
  await tx.run(sql.recountJobs);
  const ended = await tx.all<Omit<EndedParent, 'at'>>(sql.endedParents, highestOld);
  const parents = ended.map((parent) => ({ ...parent, at: tx.now() }));
  await runSteps(tx, handleParentEnds(engine, parents));
}
