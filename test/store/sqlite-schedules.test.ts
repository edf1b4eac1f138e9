import { expect, test } from 'bun:test';
import { schedulePart } from '../../src/store/parts/schedules.ts';
import type { Connection } from '../../src/store/sqlite/connection.ts';
import { sqliteEngine } from '../../src/store/sqlite/engine.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { withSqlite } from '../support/sqlite.ts';

const SCHEDULES = 100;
const SECOND_MS = 1000;

/** Returns the connection with counters of its statements and transactions. */
function counting(db: Connection) {
  const counts = { statements: 0, writes: 0 };
  const counted =
    <A extends unknown[], R>(method: (...args: A) => R) =>
    (...args: A): R => {
      counts.statements++;
      return method(...args);
    };
  const connection: Connection = {
    ...db,
    get: counted(db.get) as Connection['get'],
    all: counted(db.all) as Connection['all'],
    run: counted(db.run),
    insert: counted(db.insert),
    write: (verb, work, options) => {
      counts.writes++;
      return db.write(verb, work, options);
    },
  };
  return { counts, connection };
}

test('a hundred schedules fire in one transaction, with at most nine statements each', () =>
  withSqlite(async (store, db) => {
    const timing = { kind: 'every', everyMs: SECOND_MS, anchorAt: NOW } as const;
    for (let i = 0; i < SCHEDULES; i++) {
      const spec = { name: `s${i}`, timing, overlap: 'skip', catchUp: 'one', job: {} } as const;
      await store.addSchedule(spec, NOW + SECOND_MS, NOW);
    }
    const { counts, connection } = counting(db);
    const { dueSchedules, fire } = schedulePart(sqliteEngine(connection));
    const due = await dueSchedules(NOW + SECOND_MS, 0, SCHEDULES);
    // Without a name, all jobs share one row of figures, as jobs with many different names do.
    const firings = due.map((schedule) => ({
      schedule,
      ticks: [{ at: NOW + SECOND_MS, mayWait: false, jobId: `job-of-${schedule.name}` }],
      nextAt: NOW + 2 * SECOND_MS,
      waitingJobIds: [],
      job: jobSpec('of every tick'),
    }));
    counts.statements = 0;
    const fired = await fire(firings, NOW + SECOND_MS);
    expect(fired.flatMap((ticks) => ticks ?? []).map(({ job }) => job?.id)).toEqual(
      due.map(({ name }) => `job-of-${name}`),
    );
    expect(counts.writes).toBe(1);
    expect(counts.statements / SCHEDULES).toBeLessThanOrEqual(9);
  }));
