import { describe, expect, test } from 'bun:test';
import type { StoreFilter } from '../../src/core/jobs/filter.ts';
import { eventStatements } from '../../src/store/parts/events.ts';
import { figureStatements } from '../../src/store/parts/figures.ts';
import { jobStatements } from '../../src/store/parts/jobs.ts';
import { listPart } from '../../src/store/parts/lists.ts';
import { retentionStatements } from '../../src/store/parts/retention.ts';
import { scheduleStatements } from '../../src/store/parts/schedules.ts';
import type { ServerConnection } from '../../src/store/postgres/connection/connection.ts';
import type { Transaction } from '../../src/store/postgres/connection/transaction.ts';
import { POSTGRES, postgresEngine } from '../../src/store/postgres/engine.ts';
import { withPostgres } from '../support/postgres.ts';

const jobs = jobStatements(POSTGRES);
const figures = figureStatements(POSTGRES);
const events = eventStatements(POSTGRES);
const schedules = scheduleStatements(POSTGRES);
const retention = retentionStatements(POSTGRES);

type Database = 'an empty store' | 'a store full of ready jobs' | 'a store full of dead jobs';

const NO_REASON = {
  ...{ now: 1, held: false, blocked: false, scheduled: false, retrying: false },
  ...{ due: [], unmatched: [], noMatch: false },
};

/** Filters, and for each the index that finds its jobs. */
const FILTERS: [title: string, filter: StoreFilter, index: RegExp][] = [
  ['no filter', {}, /Index (Only )?Scan Backward using job_pkey on job/],
  ['a text', { text: 'x' }, /Index Scan Backward using job_pkey on job/],
  ['a queue', { queue: 'full' }, /Index Only Scan Backward using job_by_queue on job/],
  ['a state', { states: ['dead'] }, /Index Only Scan Backward using job_by_queue on job/],
  ['a queue and a tag', { queue: 'full', tags: { a: 'b' } }, /Index Scan Backward using job_by_queue on job/],
  ['a state and an error', { states: ['dead'], error: 'x' }, /Index Scan Backward using job_by_queue on job/],
  [
    'a reason',
    { waiting: { ...NO_REASON, held: true, due: ['full'] } },
    /Index Scan Backward using job_by_queue on job/,
  ],
  ['due jobs', { waiting: { ...NO_REASON, due: ['delayed'] } }, /Index Scan using job_waiting on job/],
  ['a name', { name: 'x' }, /Index Only Scan Backward using job_by_name on job/],
  [
    'a name, a queue and a state',
    { name: 'x', queue: 'full', states: ['dead'] },
    /Index Scan Backward using job_by_name on job/,
  ],
];

/** Statements, and for each a step that its plan must contain. */
const READS: [name: string, statement: string, step: RegExp][] = [
  ['jobById', jobs.jobById, /Index Scan using job_id_key on job/],
  ['idsStartingWith', jobs.idsStartingWith, /Index Only Scan using job_id_key on job/],
  ['deadJobs', jobs.deadJobs, /Index Scan Backward using (job_dead|job_pkey) on job/],
  ['setAsideCounts', jobs.setAsideCounts, /Index Only Scan using job_set_aside on job/],
  ['attemptsOfJob', jobs.attemptsOfJob, /Index Scan using attempt_by_job on attempt/],
  ['bytesInFiles', jobs.bytesInFiles, /Index Scan using attempt_pkey on attempt/],
  ['childrenOfJob', jobs.childrenOfJob, /Index Scan using dependency_by_parent on dependency/],
  ['countChildren', jobs.countChildren, /Index Only Scan using dependency_by_parent on dependency/],
  ['dependenciesOfJob', jobs.dependenciesOfJob, /Index Scan using dependency_pkey on dependency/],
  ['cancelledWith', jobs.cancelledWith, /Index Scan using dependency_by_parent on dependency/],
  ['cancelledDueTo', jobs.cancelledDueTo, /Index (Only )?Scan using dependency_by_parent on dependency/],
  ['rollups', figures.rollups, /Index Scan using rollup_pkey on rollup/],
  ['oldestWaiting', figures.oldestWaiting, /Index Only Scan using job_ready on job/],
  ['oldestWaiting', figures.oldestWaiting, /Index Scan using job_ready on job/],
  ['oldestWaiting', figures.oldestWaiting, /Index (Only )?Scan using job_late on job/],
  ['oldestWaiting', figures.oldestWaiting, /Index Only Scan using job_waiting on job/],
  ['events', events.events, /Index Scan using event_pkey on event/],
  ['eventsOfJob', events.eventsOfJob, /Index Scan using event_pkey on event/],
  ['firstEventFrom', events.firstEventFrom, /Index Scan using event_pkey on event/],
  ['oldRollups', figures.oldRollups, /Index Only Scan using rollup_pkey on rollup/],
  ['finishedAttempts', figures.finishedAttempts, /Index Scan Backward using attempt_pkey on attempt/],
  ['lastEnded', figures.lastEnded, /Index Scan Backward using job_ended on job/],
  ['endedJobs', retention.endedJobs(10_000), /Index Scan using job_ended on job/],
  ['anyOldKey', retention.anyOldKey, /Index Only Scan using idempotency_used on idempotency/],
  ['nextTick', schedules.nextTick, /Index Only Scan using schedule_next on schedule/],
  ['nextTick', schedules.nextTick, /Index Scan using schedule_waiting on schedule/],
  ['dueSchedules', schedules.dueSchedules, /Index Scan using schedule_next on schedule/],
  ['releasableSchedules', schedules.releasableSchedules, /Index Scan using schedule_waiting on schedule/],
];
const WRITES: typeof READS = [
  ['endedJobs', retention.endedJobs(100), /Index Scan using job_ended on job/],
  ['removeEnded', retention.removeEnded[0]!, /Scan (using|on) job_pkey/],
  ['deleteOldKeys', retention.deleteOldKeys, /Index Scan using idempotency_pkey on idempotency/],
  ['moveSchedule', schedules.moveSchedule, /Index Scan using schedule_pkey on schedule/],
  ['closeTicks', schedules.closeTicks, /Index Scan using tick_open on tick/],
  ['anyOpenTick', schedules.anyOpenTick, /Index Only Scan using tick_open on tick/],
  ['waitingTicks', schedules.waitingTicks, /Index Only Scan using tick_waiting on tick/],
  ['updateTick', schedules.updateTick, /Index Scan using tick_pkey on tick/],
  ['attemptsWithFile', retention.attemptsWithFile, /Scan (using|on) attempt_by_job/],
];

/** Adds jobs of one kind and some others, and lets the server count them. */
async function fill(db: ServerConnection, database: Database): Promise<void> {
  await db.write('insert', async (tx) => {
    await tx.run("INSERT INTO queue (name) VALUES ('full'), ('delayed')");
    await tx.run(
      `INSERT INTO counter (queue, state, jobs, bytes)
        VALUES (1, 'pending', 1, 0), (1, 'failed', 1, 0), (1, 'dead', 1, 0), (2, 'pending', 1, 0)`,
    );
    await tx.run(
      `INSERT INTO job (id, queue, state, phase, priority, max_retries, created_at, updated_at, due_at, cwd, command)
        VALUES ('delayed', 2, 'pending', 'waiting', 0, 3, 1, 1, 1, '/', 'true')`,
    );
    if (database === 'an empty store') return;
    const isDead = database === 'a store full of dead jobs';
    await tx.run(
      `INSERT INTO job (id, name, queue, state, phase, priority, max_retries, created_at, updated_at, due_at, finished_at, cwd, command)
        SELECT 'j' || n, 'x', 1, $1, $2, 0, 3, n, n, ${isDead ? 'NULL, n' : 'n, NULL'}, '/', 'true' FROM generate_series(1, 20000) AS n`,
      ...(isDead ? ['dead', 'ended'] : ['pending', 'ready']),
    );
    await tx.run(
      'INSERT INTO dependency (child, parent, ordinal, wants, phase) SELECT n, 1, 0, $1, $2 FROM generate_series(2, 20000) AS n',
      'ok',
      'open',
    );
    await tx.run(
      `INSERT INTO schedule (name, every_ms, anchor_at, overlap, catch_up, job, next_at, created_at)
        SELECT 's' || n, 1000, 0, 'skip', 'one', '{}', n, 0 FROM generate_series(1, 5000) AS n`,
    );
    await tx.run(
      `INSERT INTO tick (schedule, at, manual, phase)
        SELECT schedule, at, 0, 'closed' FROM generate_series(1, 100) AS schedule, generate_series(1, 50) AS at`,
    );
  });
  const tables = ['job', 'dependency', 'schedule', 'tick'].map((name) => `${db.location.schema}.${name}`);
  if (database !== 'an empty store')
    await db.withClient((client) => client.query(`ANALYZE ${tables.join(', ')}`));
}

/** Returns the steps of the plan that the server uses for all values. */
async function planOf(tx: Transaction, statement: string): Promise<string[]> {
  await tx.run(`PREPARE plan AS ${statement}`);
  const values = Math.max(0, ...[...statement.matchAll(/\$(\d+)/g)].map((match) => Number(match[1])));
  const nulls = Array.from({ length: values }, () => 'NULL').join(', ');
  const rows = await tx.all(`EXPLAIN EXECUTE plan${values === 0 ? '' : `(${nulls})`}`);
  await tx.run('DEALLOCATE plan');
  return rows.map((row) => String(row['QUERY PLAN']).replaceAll(/^[ >-]+| {2}\(cost.*$/g, ''));
}

type Lists = ReturnType<typeof listPart>;

/** Returns the last statement that `work` runs. */
async function lastStatement(
  db: ServerConnection,
  tx: Transaction,
  work: (lists: Lists) => Promise<unknown>,
): Promise<string> {
  let last = '';
  const seen = (sql: string): string => (last = sql);
  const watched: Transaction = {
    ...tx,
    get: (sql, ...values) => tx.get(seen(sql), ...values),
    all: (sql, ...values) => tx.all(seen(sql), ...values),
  };
  await work(listPart(postgresEngine({ ...db, read: (read) => read(watched) })));
  return last;
}

for (const database of ['an empty store', 'a store full of ready jobs', 'a store full of dead jobs'] as const)
  describe(`query plans in ${database}`, () => {
    const expectStep = (title: string, plan: string[], step: RegExp): void => {
      expect({ title, plan }).toEqual({ title, plan: expect.arrayContaining([expect.stringMatching(step)]) });
      expect({ title, plan }).toEqual({
        title,
        plan: expect.not.arrayContaining([
          expect.stringMatching(/Seq Scan on (job|attempt|rollup|dependency|schedule|tick)\b/),
        ]),
      });
    };

    test('lists, counts and scans of a filter read the jobs by its index', () =>
      withPostgres(async (_, db) => {
        await fill(db, database);
        await db.read(async (tx) => {
          for (const [title, filter, index] of FILTERS) {
            const works = [
              (lists: Lists) => lists.list(filter, { limit: 50 }),
              (lists: Lists) => lists.count(filter, 10_000, { above: 5 }),
            ];
            for (const work of works)
              expectStep(title, await planOf(tx, await lastStatement(db, tx, work)), index);
            const scan = await lastStatement(db, tx, (lists) => lists.scanEnd(filter, 1000));
            expect({ title, plan: await planOf(tx, scan) }).not.toMatchObject({
              plan: expect.arrayContaining([expect.stringMatching(/Seq Scan on job/)]),
            });
          }
        });
      }));

    test('other statements use their index', () =>
      withPostgres(async (_, db) => {
        await fill(db, database);
        await db.read(async (tx) => {
          for (const [name, statement, step] of READS) expectStep(name, await planOf(tx, statement), step);
        });
        if (database === 'an empty store') return;
        await db.write('prune', async (tx) => {
          for (const [name, statement, step] of WRITES) expectStep(name, await planOf(tx, statement), step);
        });
      }));
  });
