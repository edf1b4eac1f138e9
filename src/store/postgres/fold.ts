import type { ServerConnection } from './connection.ts';
import { addFigures, type LoggedFigure } from './fold-figures.ts';
import * as sql from './sql/fold.ts';
import type { Transaction } from './transaction.ts';

/** How long a process waits after a write before it folds the log. Others may have folded it by then. */
const FOLD_AFTER_MS = 250;

/** Folds the whole log: events get their numbers, and counters and figures grow. Waits for a fold of another process. */
export async function foldLog(db: ServerConnection): Promise<void> {
  if ((await db.all(sql.anyLogged)).length === 0) return;
  let hasMore = true;
  while (hasMore)
    hasMore = await db.write('fold', async (tx) => {
      await lockFold(tx);
      return foldBatch(tx);
    });
}

/** Reads what a fold writes, as of now. */
export async function readFolded<T>(db: ServerConnection, work: (tx: Transaction) => Promise<T>): Promise<T> {
  await foldLog(db);
  return db.read(work);
}

/**
 * Locks out all folds until the transaction ends. A transaction that needs this lock takes it before any other. It may then fold
 * the log itself, and change figures.
 */
export async function lockFold(tx: Transaction): Promise<void> {
  await tx.get(sql.lockFold);
}

/** Folds the whole log in a transaction that holds the lock. */
export async function foldAll(tx: Transaction): Promise<void> {
  while (await foldBatch(tx));
}

/** Folds at most 1,000 rows in a transaction that holds the lock. Returns whether there may be more. */
async function foldBatch(tx: Transaction): Promise<boolean> {
  // This is a statement of its own, because it must see what was committed while the lock was awaited.
  const figures = await tx.all<LoggedFigure>(sql.fold);
  if (figures.length > 0) await addFigures(tx, figures);
  return (await tx.get(sql.anyLogged)) !== undefined;
}

/** Folds the log some time after each write of this process, unless another process is folding it at that moment. */
export function foldAfterWrites(db: ServerConnection): () => void {
  let timer: NodeJS.Timeout | null = null;
  const foldOnce = (): Promise<boolean> =>
    db.write('fold', async (tx) => (await tx.get(sql.tryLockFold)) !== undefined && foldBatch(tx));
  const fold = async (): Promise<void> => {
    // If this fails, the log is folded after the next write.
    const hasMore = await foldOnce().catch(() => false);
    timer = null;
    if (hasMore) plan();
  };
  const plan = (): void => {
    // The process may end before.
    timer ??= setTimeout(() => void fold(), FOLD_AFTER_MS);
    timer.unref();
  };
  db.onCommitted((verb) => {
    // Heartbeats and shared output add nothing to the log.
    if (!['fold', 'share', 'beat'].includes(verb)) plan();
  });
  return () => {
    if (timer !== null) clearTimeout(timer);
  };
}
