import { describe, expect, test } from 'bun:test';
import { withSqlite } from '../support/sqlite.ts';

const STATES = ['pending', 'processing', 'completed', 'failed', 'dead', 'cancelled', 'other'];
const PHASES = ['ready', 'waiting', 'blocked', 'held', 'running', 'ended', 'other'];
const MAYBE = [null, 1];

/** Defines which rows each phase allows, independently of the schema. */
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
  test('allows only the valid combinations of a phase with other columns', () =>
    withSqlite(async (_, db) => {
      db.exec("INSERT INTO queue (number, name) VALUES (1, 'q')");
      for (const phase of PHASES)
        for (const state of STATES)
          for (const worker of MAYBE)
            for (const finished of MAYBE)
              for (const due of MAYBE) {
                const values = [state, phase, worker === null ? null : 'w', finished, due];
                const allowed =
                  ALLOWED[phase]?.(state, worker !== null, finished !== null, due !== null) ?? false;
                expect([...values, takes(() => db.run(INSERT, ...values))]).toEqual([...values, allowed]);
              }
    }));
});

const INSERT = `INSERT INTO job (id, command, queue, priority, max_retries, cwd, created_at, updated_at, state, phase,
  worker_id, finished_at, due_at) VALUES (hex(randomblob(8)), 'true', 1, 0, 0, '/', 1, 1, ?, ?, ?, ?, ?)`;

function takes(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (/CHECK constraint/.test((error as Error).message)) return false;
    throw error;
  }
}
