import { settingChangedEvent } from '../../core/rules/events.ts';
import { type QueueChanges, queueChangeEvents } from '../../core/rules/queue.ts';
import type { QueueRow, QueueStore } from '../contract/queues.ts';
import type { Row, Value } from '../row.ts';
import { toQueue } from '../rows.ts';
import { SELECT_SETTINGS, toSettings } from '../settings.ts';
import { all, type Engine, get, recordEvent, run, type Steps, statementsOf } from '../steps.ts';
import { foldAll, lockLog } from './log.ts';

const SELECT_QUEUE = `SELECT number, name, paused_at AS "pausedAt", paused_by AS "pausedBy", concurrency, rate, rate_ms, tokens,
  tokens_at FROM queue`;

export const queueStatements = statementsOf(({ isOneOf, valuesOf, forChange, forRemoval, withProperty }) => ({
  queues: `${SELECT_QUEUE} ORDER BY name`,
  limitedQueues: `${SELECT_QUEUE} WHERE paused_at IS NOT NULL OR concurrency IS NOT NULL OR rate IS NOT NULL ORDER BY name`,
  lockQueue: `${SELECT_QUEUE} WHERE name = $1${forChange}`,
  queueNumbers: `SELECT number, name FROM queue WHERE ${isOneOf('name', '$1')}`,
  /** Waits for a transaction that is creating or removing a queue with one of these names. */
  insertQueues: `INSERT INTO queue (name) SELECT value FROM ${valuesOf('$1', 'text')} WHERE true ORDER BY value
    ON CONFLICT DO NOTHING RETURNING number, name`,
  insertQueue: 'INSERT INTO queue (name) VALUES ($1) ON CONFLICT DO NOTHING',
  /** Waits for transactions that add jobs to the queue. */
  lockQueueToRemove: `SELECT number FROM queue WHERE name = $1${forRemoval}`,
  anyJobOfQueue: 'SELECT 1 FROM job WHERE queue = $1 LIMIT 1',
  /** This statement runs rarely, so there is no index for it. */
  deleteRollups: 'DELETE FROM rollup WHERE kind IN (SELECT number FROM rollup_kind WHERE queue = $1)',
  deleteKinds: 'DELETE FROM rollup_kind WHERE queue = $1',
  deleteQueue: 'DELETE FROM queue WHERE number = $1',
  deleteCounters: 'DELETE FROM counter WHERE queue = $1',
  /** Writes the queue's name into its events, because its number may be reused. */
  writeNameIntoEvents: `UPDATE event SET queue = NULL, detail = ${withProperty('detail', 'queue', '$1')} WHERE queue = $2`,
  putSetting: `INSERT INTO setting (key, value, updated_at) VALUES ($1, $2, $3)
    ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
  dropSetting: 'DELETE FROM setting WHERE key = $1',
}));

export function queuePart(db: Engine): QueueStore {
  const sql = queueStatements(db.dialect);
  return {
    queues: async () => (await db.read(() => all(sql.queues))).map(readQueue),
    limitedQueues: async () => (await db.read(() => all(sql.limitedQueues))).map(readQueue),
    setQueue: (name, changes) => db.write('setQueue', () => setQueue(db, name, changes)),
    // The work is repeated if a job was added to the queue after it had looked for one.
    removeQueue: (name) =>
      db.write('removeQueue', () => removeQueue(db, name), { repeatsAfter: 'foreign-key' }),
    settings: async () => toSettings(await db.glance(() => all(SELECT_SETTINGS))),
    set: (key, text, check) =>
      db.write('set', function* (): Steps<void> {
        // Two settings that are changed at once must not both be checked against the old value of the other.
        yield* db.lockTable('setting');
        const changed =
          text === null ? yield* run(sql.dropSetting, key) : yield* run(sql.putSetting, key, text, db.now());
        check(toSettings(yield* all(SELECT_SETTINGS)));
        if (changed === 1) yield* recordEvent(db, settingChangedEvent(key, text));
      }),
  };
}

function readQueue({ number: _, ...row }: Row): QueueRow {
  return toQueue(row);
}

function* setQueue(db: Engine, name: string, changes: QueueChanges): Steps<QueueRow> {
  const { number, pausedAt } = yield* lockQueue(db, name);
  const { paused, concurrency, rate } = changes;
  const set = (columns: string, ...values: Value[]): Steps<number> =>
    run(`UPDATE queue SET ${columns} WHERE number = $1`, number!, ...values);
  if (paused !== undefined)
    yield* set('paused_at = $2, paused_by = $3', paused?.at ?? null, paused?.by ?? null);
  if (concurrency !== undefined) yield* set('concurrency = $2', concurrency);
  if (rate !== undefined)
    yield* set(
      'rate = $2, rate_ms = $3, tokens = NULL, tokens_at = NULL',
      rate?.jobs ?? null,
      rate?.perMs ?? null,
    );
  for (const event of queueChangeEvents(changes, pausedAt !== null))
    yield* recordEvent(db, event, { queue: number as number });
  return readQueue(yield* lockQueue(db, name));
}

/** Returns the numbers of queues by their names, and creates those that do not exist yet. */
export function* queueNumbers({ dialect }: Engine, names: string[]): Steps<Map<string, number>> {
  const sql = queueStatements(dialect);
  const found = new Map<string, number>();
  const add = (rows: { number: number; name: string }[]): void => {
    for (const { number, name } of rows) found.set(name, number);
  };
  const missing = (): string[] => names.filter((name) => !found.has(name));
  add(yield* all(sql.queueNumbers, names));
  // Another transaction may create or remove a queue between these two statements.
  while (missing().length > 0) {
    add(yield* all(sql.insertQueues, missing()));
    if (missing().length > 0) add(yield* all(sql.queueNumbers, missing()));
  }
  return found;
}

/** Locks a queue against other changes, and creates it first if it does not exist. Jobs can still be added to it. */
function* lockQueue({ dialect }: Engine, name: string): Steps<Row> {
  const sql = queueStatements(dialect);
  for (;;) {
    const row = yield* get(sql.lockQueue, name);
    if (row !== undefined) return row;
    yield* run(sql.insertQueue, name);
  }
}

function* removeQueue(db: Engine, name: string): Steps<'removed' | 'has-jobs' | 'absent'> {
  const sql = queueStatements(db.dialect);
  // The log must have no row of the queue left, because a fold after the removal would count for a queue that is gone.
  yield* lockLog(db);
  const number = (yield* get<{ number: number }>(sql.lockQueueToRemove, name))?.number;
  if (number === undefined) return 'absent';
  if ((yield* get(sql.anyJobOfQueue, number)) !== undefined) return 'has-jobs';
  yield* foldAll(db);
  yield* run(sql.deleteRollups, number);
  yield* run(sql.deleteKinds, number);
  yield* run(sql.deleteQueue, number);
  yield* run(sql.deleteCounters, number);
  yield* run(sql.writeNameIntoEvents, name, number);
  yield* recordEvent(db, { kind: 'queue-deleted', detail: { queue: name } });
  return 'removed';
}
