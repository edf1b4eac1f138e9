import { QueueError } from '../../core/errors.ts';
import type { Row } from '../row.ts';
import { JOB } from '../rows.ts';
import {
  all,
  type Dialect,
  detailText,
  type Engine,
  type LoadedColumn,
  native,
  run,
  type Steps,
} from '../steps.ts';
import type { SavedTable } from '../tables.ts';
import { readAgenda } from './agenda.ts';
import { jobChange, jobRemoval } from './change-jobs.ts';
import { takeJobs } from './choose-jobs.ts';
import type { ServerConnection } from './connection/connection.ts';
import {
  isForeignKeyViolation,
  isInvalidValue,
  isSettlementConflict,
  isUniqueViolation,
  lostWhileReading,
} from './connection/failures.ts';
import type { Transaction } from './connection/transaction.ts';
import { insertRows } from './insert.ts';
import { scansOf } from './scans.ts';
import { settleJobs } from './settle.ts';
import { eachSharedPart } from './shared-output.ts';
import * as care from './sql/care.ts';
import { IS_BUSY, lastAttempt, openQueues } from './sql/claims.ts';
import { oldestWaiting } from './sql/figures.ts';
import {
  AT_MOST_ONCE,
  bootHasLease,
  FROM_JOB,
  IS_ADOPTABLE,
  OUTPUT_COLUMNS,
  SERVER_NOW,
  selectClaimed,
} from './sql/fragments.ts';
import * as workers from './sql/workers.ts';

/** A role that may not fold sees what others have folded. */
const MAY_FOLD = "has_table_privilege('log', 'DELETE')";

export const POSTGRES: Dialect = {
  selectJob: `SELECT ${JOB} ${FROM_JOB}`,
  selectClaimed,
  countRunning: "SELECT count(*) FROM job WHERE phase = 'running'",
  isAdoptable: IS_ADOPTABLE,
  isBusy: IS_BUSY,
  clock: SERVER_NOW,
  mayFold: MAY_FOLD,
  anyToFold: `SELECT 1 FROM log WHERE ${MAY_FOLD} LIMIT 1`,
  isLogInOrder: 'false',
  oldestWaiting,
  forChange: ' FOR NO KEY UPDATE',
  skipLocked: ' SKIP LOCKED',
  forRemoval: ' FOR UPDATE',
  isOneOf: (column, array) => `${column} = ANY(${array})`,
  isIn: (column, query) => `${column} = ANY(ARRAY(${query}))`,
  valuesOf: (array, type) => `unnest(${array}::${type}[]) AS given (value)`,
  rowsOf: (json, columns) =>
    `json_to_recordset(${json}) AS given (${Object.entries(columns).map(([name, type]) => `${name} ${type}`)})`,
  byIndex: () => '',
  numbersIn: (query) => `LATERAL (${query}) AS one (value)`,
  /*
   * Compares whole rows, because no other index fits such a comparison and such an order. With `queue = $1 AND number < $2 ORDER BY
   * number`, the server would read the primary key if most jobs were in that queue when it last counted them, and then read all jobs
   * of a queue that has become empty.
   */
  newestOf: (columns, key, { before, above, extra }) => {
    const compared = [...columns, 'number'];
    return `(${compared}) < (${[...key, before]}) AND (${compared}) > (${[...key, above]})${extra}
      ORDER BY ${compared.map((column) => `${column} DESC`)}`;
  },
  like: 'ILIKE',
  property: (column, name) => `${column}::json ->> ${name}`,
  outputColumns: OUTPUT_COLUMNS,
  json: (column) => `${column}::json`,
  jsonList: (column) => `json_agg(${column})::text`,
  withProperty: (column, name, value) =>
    `(coalesce(${column}, '{}')::jsonb || jsonb_build_object('${name}', ${value}::text))::text`,
  hostColumns: {
    worker: `, has_left AS "hasLeft", ${bootHasLease('worker')} AS "bootHasLease"`,
    supervisor: `, ${bootHasLease('supervisor')} AS "bootHasLease"`,
  },
  hosts: workers.hosts,
  lastAttempt,
  setLastAttempt: workers.setLastAttempt,
  isAtMostOnce: AT_MOST_ONCE,
  // Marks them, so that the transaction that ends one of them looks for its children.
  lockParents: `WITH parent AS MATERIALIZED (SELECT number, id, phase, state FROM job WHERE id = ANY($1)
      ORDER BY number FOR NO KEY UPDATE),
    marked AS (UPDATE job SET waited_for = 1 FROM parent WHERE job.number = parent.number AND waited_for = 0)
    SELECT number, id, phase, state FROM parent`,
  lockClaimed: ' FOR NO KEY UPDATE OF job, attempt',
  jobChange,
  jobRemoval,
  ...{ columnsOf: care.columnsOf, highestNumber: care.highestNumber },
  reserveJobNumbers: care.reserveJobNumbers,
  ...{ recomputeOwn: care.markParents, ownRules: care.OWN_RULES },
};

const REPEATABLE = {
  'foreign-key': isForeignKeyViolation,
  'unique-key': isUniqueViolation,
  settlement: isSettlementConflict,
};

type Send = Pick<Transaction, 'get' | 'all' | 'run'>;

/** Runs steps. `on` sends a statement at once and waits for its answer. */
export async function runSteps<T>(on: Send, steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) {
    const { value } = step;
    let answer: unknown;
    try {
      if (typeof value === 'function') answer = await value(on as never);
      else if (Array.isArray(value)) answer = await Promise.all(value.map((one) => runSteps(on, one)));
      else answer = await on[value.how](value.sql, ...value.values);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer as never);
  }
  return step.value;
}

export const postgresEngine = (db: ServerConnection): Engine => ({
  dialect: POSTGRES,
  actor: db.actor,
  now: db.now,
  host: db.host,
  read: (work) => db.read((tx) => runSteps(tx, work())),
  async readAll(work) {
    let hasBegun = false;
    return db.read(async (tx) => {
      // The rows that were passed on before the connection was lost cannot be taken back.
      if (hasBegun) throw lostWhileReading(db.location);
      await tx.run(care.allowPauses);
      hasBegun = true;
      return runSteps(tx, work());
    });
  },
  each: (sql, keep, ...values) =>
    native(async (tx: Transaction) => {
      for await (const row of tx.each(sql, ...values)) keep(row);
    }),
  eachSharedPart: (keep) => native((tx: Transaction) => eachSharedPart(tx, keep)),
  glance: (work) => {
    const rows: Send['all'] = (sql, ...values) => db.all(sql, ...values);
    const get: Send['get'] = async (sql, ...values) => (await db.all(sql, ...values))[0] as never;
    return runSteps({ all: rows, get } as Send, work());
  },
  write: (verb, work, { repeatsAfter } = {}) =>
    db.write(verb, (tx) => runSteps(tx, work(false)), repeatsAfter && REPEATABLE[repeatsAfter]),
  untilCertain: db.untilCertain,
  agenda: (workerId, queues, now) => readAgenda(db, workerId, queues, now),
  openQueues: (names) => all(openQueues, names),
  takeJobs(request, room, now) {
    return takeJobs(this, request, room, now);
  },
  beat: async (...values) => (await db.writeOnce('beat', workers.beatWorker, ...values))[0],
  registerHost: ({ host: { id, boot }, hostname, leaseMs }) =>
    native((tx: Transaction) => tx.run(workers.putHost, id, boot, hostname, tx.directory(), leaseMs)),
  noteLeft: (workerId) => run(workers.noteLeft, workerId),
  changeJobs: ([sql], event, now, ...values) =>
    all(sql!, event?.kind ?? null, db.actor, detailText(event?.detail), db.now(), now, ...values),
  lockTable: (names) => run(`LOCK TABLE ${names} IN EXCLUSIVE MODE`),
  scansOf,
  insertRows,
  settleJobs: (settlements, actor) => settleJobs(db, settlements, actor),
  insertSaved: (table, columns, rows) => native((tx: Transaction) => insertSaved(tx, table, columns, rows)),
});

/** Inserts rows with one statement. Rows that are added later get higher numbers than all of them. */
async function insertSaved(
  tx: Transaction,
  { name: table, numbered }: SavedTable,
  columns: LoadedColumn[],
  rows: Row[],
): Promise<number> {
  const arrays = columns.map(({ name }) => rows.map((row) => row[name]!));
  // The output files of the loaded attempts are kept on this host.
  const [host, boot] = tx.host().map((text) => text || null);
  const same = table === 'attempt' ? { host: host!, boot: boot! } : {};
  const statement = care.insertRows(table, columns, Object.keys(same));
  try {
    const added = await tx.run(statement, ...arrays, ...Object.values(same));
    if (numbered && added > 0) await tx.run(care.setHighestNumber(table));
    return added;
  } catch (error) {
    throw isInvalidValue(error) ? new QueueError('import-invalid', (error as Error).message) : error;
  }
}
