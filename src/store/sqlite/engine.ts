import { QueueError } from '../../core/errors.ts';
import * as log from '../parts/log.ts';
import type { Row } from '../row.ts';
import { JOB } from '../rows.ts';
import {
  type Dialect,
  type Engine,
  type LoadedColumn,
  native,
  nothing,
  type Statement,
  type Steps,
} from '../steps.ts';
import { readAgenda } from './agenda.ts';
import { bindable, bound, changeJobs, jobChange, jobRemoval } from './change-jobs.ts';
import { takeJobs } from './choose-jobs.ts';
import type { Connection } from './connection.ts';
import { isConstraintViolation } from './failures.ts';
import { insertRows } from './insert.ts';
import { scansOf } from './scans.ts';
import { settleJobs } from './settle.ts';
import * as care from './sql/care.ts';
import { lastAttempt } from './sql/claims.ts';
import { oldestWaiting } from './sql/figures.ts';
import { AT_MOST_ONCE, CLOCK, FROM_JOB, IS_BUSY, selectClaimed } from './sql/fragments.ts';
import * as workers from './sql/workers.ts';

export const SQLITE: Dialect = {
  selectJob: `SELECT ${JOB} ${FROM_JOB}`,
  selectClaimed,
  countRunning: "SELECT count(*) FROM job INDEXED BY job_running WHERE phase = 'running'",
  isAdoptable: '',
  isBusy: IS_BUSY,
  clock: CLOCK,
  mayFold: 'true',
  anyToFold: 'SELECT 1 FROM log LIMIT 1 OFFSET 1000',
  isLogInOrder: 'true',
  oldestWaiting,
  forChange: '',
  skipLocked: '',
  forRemoval: '',
  isOneOf: (column, array) => `${column} IN (SELECT value FROM json_each(${array}))`,
  isIn: (column, query) => `${column} IN (${query})`,
  valuesOf: (array) => `json_each(${array})`,
  rowsOf: (json, columns) =>
    `(SELECT ${Object.keys(columns).map((name) => `value ->> '${name}' AS ${name}`)} FROM json_each(${json})) AS given`,
  byIndex: (name) => ` INDEXED BY ${name}`,
  // SQLite has no LATERAL.
  numbersIn: (query) => `json_each((SELECT json_group_array(number) FROM (${query}))) AS one`,
  newestOf: (columns, key, { before, above, extra }) =>
    `${columns.map((column, i) => `${column} = ${key[i]} AND `).join('')}number < ${before} AND number > ${above}${extra}
      ORDER BY number DESC`,
  like: 'LIKE',
  property: (column, name) => `(SELECT value FROM json_each(${column}) WHERE key = ${name})`,
  outputColumns: 'output_bytes AS "outputBytes"',
  json: (column) => column,
  jsonList: (column) => `json_group_array(${column})`,
  withProperty: (column, name, value) => `json_set(coalesce(${column}, '{}'), '$.${name}', ${value})`,
  hostColumns: { worker: '', supervisor: '' },
  hosts: workers.hosts,
  lastAttempt,
  setLastAttempt: workers.setLastAttempt,
  isAtMostOnce: AT_MOST_ONCE,
  lockParents: 'SELECT number, id, phase, state FROM job WHERE id IN (SELECT value FROM json_each($1))',
  lockClaimed: '',
  jobChange,
  jobRemoval,
  columnsOf: care.columnsOf,
  highestNumber: care.highestNumber,
  reserveJobNumbers: care.reserveJobNumbers,
  recomputeOwn: care.recomputeBounds,
  ownRules: care.OWN_RULES,
};

/** Returns a statement with the parameters of SQLite. */
export const numbered = (sql: string): string => bound(sql, [])[0];

/** Runs steps inside a transaction, without waiting. */
export function runSteps<T>(db: Connection, steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) {
    const { value } = step;
    let answer: unknown;
    try {
      if (typeof value === 'function') answer = value(db as never);
      else answer = Array.isArray(value) ? value.map((one) => runSteps(db, one)) : runOne(db, value);
    } catch (error) {
      step = steps.throw(error);
      continue;
    }
    step = steps.next(answer as never);
  }
  return step.value;
}

function runOne(db: Connection, { how, sql, values }: Statement): unknown {
  return db[how](...bound(sql, values.map(bindable)));
}

export const sqliteEngine = (db: Connection): Engine => ({
  dialect: SQLITE,
  actor: db.actor,
  now: db.now,
  host: () => [],
  read: (work) => db.read(() => runSteps(db, work())),
  readAll: (work) => db.read(() => runSteps(db, work())),
  each: (sql, keep, ...values) =>
    native(() => {
      for (const row of db.each(...bound(sql, values.map(bindable)))) keep(row);
    }),
  eachSharedPart: () => nothing(null),
  glance: (work) => db.read(() => runSteps(db, work())),
  write: (verb, work, { usesBallast = false, ifFree = false } = {}) =>
    db.write(verb, (isBallastFreed) => runSteps(db, work(isBallastFreed)), { usesBallast, ifFree }),
  untilCertain: async () => {},
  agenda: (workerId, queues, now) => db.read(() => readAgenda(db, workerId, queues, now)),
  openQueues: () => nothing([]),
  takeJobs: (request, room, now) => native(() => takeJobs(db, request, room, now)),
  beat: (workerId, now, draining, leaseMs) =>
    db.write('beat', () => {
      db.checkFile();
      return db.get(workers.beatWorker, workerId, now, draining, leaseMs);
    }),
  registerHost: () => nothing(null),
  noteLeft: () => nothing(null),
  changeJobs: (statements, event, now, ...values) =>
    native(() => changeJobs(db, statements, event, now, ...values)),
  // A transaction that writes is alone.
  lockTable: () => nothing(null),
  scansOf,
  insertRows: (batch, now) => native(() => insertRows(db, batch, now)),
  settleJobs: (settlements, actor) => native(() => settleJobs(db, settlements, actor)),
  insertSaved: (table, columns, rows) => native(() => insertSaved(db, table.name, columns, rows)),
});

function insertSaved(db: Connection, table: string, columns: LoadedColumn[], rows: Row[]): number {
  const names = columns.map((column) => column.name);
  const statement = care.insertRow(table, names);
  try {
    const count = rows.reduce(
      (added, row) => added + db.run(statement, ...names.map((name) => row[name]!)),
      0,
    );
    if (table === 'event') db.run(care.setEventNumber, 0);
    return count;
  } catch (error) {
    // A violated constraint means that the row is invalid. Other errors are passed on.
    throw isConstraintViolation(error) ? new QueueError('import-invalid', (error as Error).message) : error;
  }
}

/** Folds the log if it is too long to be read. */
export const foldLongLog = (db: Connection): Promise<void> => log.foldLongLog(sqliteEngine(db));
