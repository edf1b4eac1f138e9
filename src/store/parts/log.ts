import { all, type Engine, get, run, type Steps, statementsOf, together } from '../steps.ts';
import { addFigures, type LoggedFigure, selectFigures } from './fold-figures.ts';

/** One transaction folds at most this many rows, so that no other writer waits long. */
const ROWS_AT_ONCE = 1000;

/** Selects the changes of the counters by rows of the log, as rows of queue, state, jobs and bytes. */
const deltas = (where = '', queue = 'IS NOT NULL'): string => `
  SELECT old_queue AS queue, old_state AS state, -jobs AS jobs, -coalesce(old_bytes, 0) AS bytes FROM log
  WHERE old_queue ${queue}${where}
  UNION ALL SELECT new_queue, new_state, jobs, coalesce(new_bytes, 0) FROM log WHERE new_queue ${queue}${where}`;

/** Counts jobs and bytes by queue and state, as of now. The true numbers are those of `counter` and what the log adds to them. */
const currentCounts = (queue: string): string => `SELECT queue, state, sum(jobs) AS jobs, sum(bytes) AS bytes
  FROM (SELECT queue, state, jobs, bytes FROM counter WHERE queue ${queue} UNION ALL ${deltas('', queue)}) AS part
  GROUP BY queue, state HAVING sum(jobs) > 0`;
export const CURRENT_COUNTS = currentCounts('IS NOT NULL');
/** Does the same for the queue with the name $1. */
export const COUNTS_OF_QUEUE = currentCounts('= (SELECT number FROM queue WHERE name = $1)');

const EVENT = 'at, kind, actor, jobs, first_job, id, queue, attempt, detail';
/** Selects events of the log with the numbers that a fold gives them, in the order in which they were logged. */
export const numberedEvents = (where: string): string =>
  `SELECT CAST(last + sum(jobs) OVER (ORDER BY seq) AS bigint) AS number, ${EVENT}
  FROM log CROSS JOIN event_number WHERE kind IS NOT NULL AND ${where}`;

export const logStatements = statementsOf(({ isOneOf, forChange, skipLocked }) => {
  const taken = isOneOf('seq', '$1');
  return {
    /** Locks the only row. Every role that may connect can take an advisory lock, but only one that may change the row can lock it. */
    lockLog: `SELECT last FROM event_number${forChange}`,
    tryLockLog: `SELECT last FROM event_number${forChange}${skipLocked}`,
    oldest: `${selectFigures('LEFT JOIN')} ORDER BY seq LIMIT ${ROWS_AT_ONCE}`,
    addEvents: `INSERT INTO event (number, ${EVENT}) ${numberedEvents(taken)} ORDER BY seq`,
    moveEventNumber: `UPDATE event_number SET last =
      last + (SELECT coalesce(sum(jobs), 0) FROM log WHERE kind IS NOT NULL AND ${taken})`,
    addCounts: `INSERT INTO counter (queue, state, jobs, bytes)
      SELECT queue, state, sum(jobs), sum(bytes) FROM (${deltas(` AND ${taken}`)}) AS delta
      WHERE queue IN (SELECT number FROM queue) GROUP BY queue, state
      ON CONFLICT (queue, state) DO UPDATE SET jobs = counter.jobs + excluded.jobs, bytes = counter.bytes + excluded.bytes`,
    deleteTaken: `DELETE FROM log WHERE ${taken}`,
  };
});

/**
 * Locks out all folds until the transaction ends. A transaction that needs this lock takes it before any other. It may then fold
 * the log itself, and change figures.
 */
export function* lockLog({ dialect }: Engine): Steps<void> {
  yield* get(logStatements(dialect).lockLog);
}

/** Folds the whole log in a transaction that holds the lock: events get their numbers, and counters and figures grow. */
export function* foldAll(db: Engine): Steps<void> {
  while (yield* foldBatch(db));
}

/** Folds the oldest rows in a transaction that holds the lock. Returns whether there may be more. */
function* foldBatch(db: Engine): Steps<boolean> {
  const sql = logStatements(db.dialect);
  // This is a statement of its own, because it must see what was committed while the lock was awaited.
  const rows = yield* all<LoggedFigure & { seq: number }>(sql.oldest);
  const taken = rows.map((row) => row.seq);
  if (taken.length === 0) return false;
  yield* together(
    run(sql.addEvents, taken),
    run(sql.moveEventNumber, taken),
    run(sql.addCounts, taken),
    run(sql.deleteTaken, taken),
  );
  yield* addFigures(rows.filter(({ figure, label }) => figure !== null && label !== null));
  return taken.length === ROWS_AT_ONCE;
}

/** Folds the whole log, if `anyToFold` returns a row. Waits for a fold of another process, but for no writer with `ifFree`. */
export async function foldLog(
  db: Engine,
  { ifFree = false, anyToFold = `SELECT 1 FROM log WHERE ${db.dialect.mayFold} LIMIT 1` } = {},
): Promise<void> {
  const fold = function* (): Steps<boolean> {
    yield* lockLog(db);
    return yield* foldBatch(db);
  };
  try {
    // A read comes first, so that no other writer waits if there is nothing to fold.
    if ((await db.glance(() => all(anyToFold))).length === 0) return;
    while (await db.write('fold', fold, { ifFree }));
  } catch (error) {
    // Where readers number the events of the log, nobody depends on a fold. The file may be locked, or its disk full.
    if (db.dialect.isLogInOrder === 'false') throw error;
  }
}

/** Folds a log that is too long to be read. */
export const foldLongLog = (db: Engine): Promise<void> =>
  foldLog(db, { ifFree: true, anyToFold: db.dialect.anyToFold });

/** Reads what a fold writes, as of now. The work adds what is left in the log. */
export async function readFolded<T>(db: Engine, work: () => Steps<T>): Promise<T> {
  await foldLongLog(db);
  return db.read(work);
}

/** Heartbeats and shared output add nothing to the log. */
const UNLOGGED: readonly string[] = ['fold', 'share', 'beat'];

/**
 * Folds the log some time after each write of this process, unless another process is folding it at that moment. `onWritten` calls a
 * function after each write. Returns a function that stops this.
 */
export function foldAfterWrites(
  db: Engine,
  onWritten: (listener: (verb: string) => void) => void,
  delayMs: number,
): () => void {
  let timer: NodeJS.Timeout | null = null;
  const { tryLockLog } = logStatements(db.dialect);
  const foldOnce = (): Promise<boolean> =>
    db.write('fold', function* (): Steps<boolean> {
      return (yield* get(tryLockLog)) !== undefined && (yield* foldBatch(db));
    });
  const fold = async (): Promise<void> => {
    // If this fails, the log is folded after the next write.
    const hasMore = await foldOnce().catch(() => false);
    timer = null;
    // A long log gets shorter even while several workers write.
    if (hasMore) plan(delayMs / 10);
  };
  const plan = (ms = delayMs): void => {
    // The timer does not keep the process running.
    timer ??= setTimeout(() => void fold(), ms);
    timer.unref();
  };
  onWritten((verb) => {
    if (!UNLOGGED.includes(verb)) plan();
  });
  return () => {
    if (timer !== null) clearTimeout(timer);
  };
}
