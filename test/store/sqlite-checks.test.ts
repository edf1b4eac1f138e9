import { describe, expect, test } from 'bun:test';
import { NAME_COLUMNS, RANGES } from '../../src/store/ranges.ts';
import { SAVED_TABLES } from '../../src/store/tables.ts';
import { withSqlite } from '../support/sqlite.ts';

const STATES = ['pending', 'processing', 'completed', 'failed', 'dead', 'cancelled', 'other'];
const PHASES = ['ready', 'waiting', 'blocked', 'held', 'running', 'ended', 'other'];
const NULL_OR_ONE = [null, 1];

/** The values of other columns that each phase allows, written down independently of the schema. */
const ALLOWED: Record<string, (state: string, worker: boolean, finished: boolean, due: boolean) => boolean> =
  {
    running: (state, worker, finished, due) => state === 'processing' && worker && !finished && !due,
    ended: (state, worker, finished, due) =>
      ['completed', 'dead', 'cancelled'].includes(state) && !worker && finished && !due,
  };
for (const phase of ['ready', 'waiting', 'blocked', 'held'])
  ALLOWED[phase] = (state, worker, finished, due) =>
    ['pending', 'failed'].includes(state) && !worker && !finished && due;

describe('the schema', () => {
  test('allows only the valid combinations of phase, state, worker, end and due time', () =>
    withSqlite(async (_, db) => {
      db.exec("INSERT INTO queue (number, name) VALUES (1, 'q')");
      for (const phase of PHASES)
        for (const state of STATES)
          for (const worker of NULL_OR_ONE)
            for (const finished of NULL_OR_ONE)
              for (const due of NULL_OR_ONE) {
                const values = [state, phase, worker === null ? null : 'w', finished, due];
                const allowed =
                  ALLOWED[phase]?.(state, worker !== null, finished !== null, due !== null) ?? false;
                expect([...values, accepts(() => db.run(INSERT, ...values))]).toEqual([...values, allowed]);
              }
    }));

  test('keeps numbers and times in the ranges of ranges.ts', () =>
    withSqlite(async (_, db) => {
      db.exec(`PRAGMA foreign_keys = OFF; ${ROWS}`);
      for (const [table, columns] of Object.entries(RANGES))
        for (const [column, [min, max]] of Object.entries(columns))
          for (const value of [min - 1, min, max, max + 1]) {
            const where = table !== 'job' ? '' : `WHERE phase = '${column === 'due_at' ? 'ready' : 'ended'}'`;
            const change = `UPDATE ${table} SET ${column} = ${value} ${where}`;
            // The schema allows shorter intervals. Imports refuse them, `db check` reports them, and no worker fires them.
            const least = column === 'every_ms' ? 1 : min;
            expect([change, accepts(() => db.exec(`SAVEPOINT one; ${change}`))]).toEqual([
              change,
              value >= least && value <= max,
            ]);
            db.exec('ROLLBACK TO one; RELEASE one');
          }
    }));

  test('has a range for every number of a saved table, except references, row numbers and figures', () =>
    withSqlite(async (_, db) => {
      for (const { name, refs } of SAVED_TABLES.filter((table) => !table.name.startsWith('rollup'))) {
        const columns = db
          .all("SELECT name FROM pragma_table_info(?) WHERE type IN ('INTEGER', 'REAL')", name)
          .map((row) => String(row.name))
          .filter((column) => !(column in refs) && !(name in NAME_COLUMNS && column === 'number'));
        const ranged = Object.keys(RANGES[name] ?? {}).filter((column) => !(column in refs));
        expect([name, columns.sort()]).toEqual([name, ranged.sort()]);
      }
    }));
});

/** Inserts a row into every table that has ranges. There are jobs of two phases, because no phase allows all columns. */
const ROWS = `INSERT INTO setting (key, value) VALUES ('k', 'v');
  INSERT INTO queue (name) VALUES ('q');
  INSERT INTO job (id, command, queue, priority, max_retries, cwd, created_at, updated_at, state, phase, finished_at, due_at)
    VALUES ('a', 'true', 1, 0, 0, '/', 1, 1, 'dead', 'ended', 1, NULL),
      ('b', 'true', 1, 0, 0, '/', 1, 1, 'pending', 'ready', NULL, 1);
  INSERT INTO attempt (job, ordinal, token, worker_id, started_at, wait_ms, finished_at, why)
    VALUES (1, 1, 1, 'w', 1, 1, 1, 'exited');
  INSERT INTO schedule (name, every_ms, anchor_at, overlap, catch_up, job, created_at)
    VALUES ('s', 1, 1, 'skip', 'none', '{}', 1);
  INSERT INTO tick VALUES (1, 1, 0, 'open', 1);
  INSERT INTO event (at, kind) VALUES (1, 'enqueued');
  UPDATE event_number SET last = 1;
  INSERT INTO dependency VALUES (1, 2, 0, 'ok', 'open');
  INSERT INTO idempotency (key, body, used_at) VALUES ('k', '', 1)`;

const INSERT = `INSERT INTO job (id, command, queue, priority, max_retries, cwd, created_at, updated_at, state, phase,
  worker_id, finished_at, due_at) VALUES (hex(randomblob(8)), 'true', 1, 0, 0, '/', 1, 1, ?, ?, ?, ?, ?)`;

function accepts(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (/CHECK constraint/.test((error as Error).message)) return false;
    throw error;
  }
}
