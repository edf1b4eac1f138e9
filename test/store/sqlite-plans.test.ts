import { describe, expect, test } from 'bun:test';
import type { StoreFilter } from '../../src/core/jobs/filter.ts';
import { claimStatements } from '../../src/store/parts/claims.ts';
import { dependencyStatements } from '../../src/store/parts/dependencies.ts';
import { enqueueLogStatements } from '../../src/store/parts/enqueue-log.ts';
import { eventStatements } from '../../src/store/parts/events.ts';
import { figureStatements } from '../../src/store/parts/figures.ts';
import { insertStatements } from '../../src/store/parts/insert.ts';
import { jobActionStatements } from '../../src/store/parts/job-actions.ts';
import { jobStatements } from '../../src/store/parts/jobs.ts';
import { listPart, listStatements } from '../../src/store/parts/lists.ts';
import { logStatements } from '../../src/store/parts/log.ts';
import { queueStatements } from '../../src/store/parts/queues.ts';
import { retentionStatements } from '../../src/store/parts/retention.ts';
import { scheduleStatements } from '../../src/store/parts/schedules.ts';
import { settleStatements } from '../../src/store/parts/settle.ts';
import { workerStatements } from '../../src/store/parts/workers.ts';
import type { Connection } from '../../src/store/sqlite/connection.ts';
import { numbered, SQLITE, sqliteEngine } from '../../src/store/sqlite/engine.ts';
import { readyPriorities } from '../../src/store/sqlite/scans.ts';
import * as claims from '../../src/store/sqlite/sql/claims.ts';
import * as insert from '../../src/store/sqlite/sql/insert.ts';
import * as insertOne from '../../src/store/sqlite/sql/insert-one.ts';
import * as log from '../../src/store/sqlite/sql/log.ts';
import * as queues from '../../src/store/sqlite/sql/queues.ts';
import * as workers from '../../src/store/sqlite/sql/workers.ts';
import type { JobStatements } from '../../src/store/steps.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { withSqlite } from '../support/sqlite.ts';

const { JOBS_AT_ONCE: _, insertJobs, insertPlainJobs, ...rowStatements } = insert;
const { insertJob, logEnqueued } = insertOne;
const jobActions = jobActionStatements(SQLITE);
const retention = retentionStatements(SQLITE);
/** Every statement except those of backup, repair and export, which may read whole tables. */
const sql: Record<string, string | JobStatements> = {
  ...listStatements(SQLITE),
  readyPriorities,
  ...jobStatements(SQLITE),
  ...rowStatements,
  ...insertStatements(SQLITE),
  insertJob,
  logOneEnqueued: logEnqueued,
  ...jobActions,
  editJobs: jobActions.editJobs({ columns: ['queue', 'command'], setsDue: true, exceptAtMostOnce: true }),
  ...dependencyStatements(SQLITE),
  lockParents: SQLITE.lockParents,
  ...settleStatements(SQLITE),
  ...claims,
  ...claimStatements(SQLITE),
  ...workers,
  ...workerStatements(SQLITE),
  ...queues,
  ...queueStatements(SQLITE),
  ...scheduleStatements(SQLITE),
  ...log,
  ...logStatements(SQLITE),
  ...enqueueLogStatements(SQLITE),
  ...eventStatements(SQLITE),
  ...figureStatements(SQLITE),
  ...retention,
  endedJobs: retention.endedJobs(100),
  insertJobs: insertJobs(50),
  insertPlainJobs: insertPlainJobs(50),
};

const NO_REASON = {
  ...{ now: 1, held: false, blocked: false, scheduled: false, retrying: false },
  ...{ due: [], unmatched: [], noMatch: false },
};

/** Filters, and for each the index that finds its jobs. */
const FILTERS: [title: string, filter: StoreFilter, plan: RegExp][] = [
  ['no filter', {}, /^SEARCH job USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)$/],
  ['a text', { text: 'x' }, /^SEARCH job USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)$/],
  [
    'a name and a state',
    { name: 'x', states: ['pending'] },
    /^SEARCH job USING INDEX job_by_name \(name=\? AND number>\? AND number<\?\)$/,
  ],
  // With only one of the two columns the cost would grow with the jobs of the queue or of the state.
  [
    'a queue',
    { queue: 'default' },
    /^SEARCH job USING COVERING INDEX job_by_queue \(queue=\? AND state=\? AND number>\? AND number<\?\)$/,
  ],
  [
    'a state and an error',
    { states: ['pending'], error: 'x' },
    /^SEARCH job USING INDEX job_by_queue \(queue=\? AND state=\? AND number>\? AND number<\?\)$/,
  ],
  [
    'a reason',
    { waiting: { ...NO_REASON, held: true } },
    /^SEARCH job USING COVERING INDEX job_set_aside \(phase=\? AND queue=\? AND state=\? AND number>\? AND number<\?\)$/,
  ],
  [
    'due jobs',
    { waiting: { ...NO_REASON, due: ['default'] } },
    /^SEARCH job USING INDEX job_ready \(queue=\? AND priority=\? AND number>\? AND number<\?\)$/,
  ],
  [
    'due jobs that are not ready yet',
    { waiting: { ...NO_REASON, now: NOW + 1000, due: ['default'] } },
    /^SEARCH job USING COVERING INDEX job_waiting \(queue=\? AND due_at<\?\)$/,
  ],
];

const statements = Object.entries(sql).flatMap(([name, texts]) =>
  [texts].flat().map((text) => [name, text] as const),
);

const SET_ASIDE_SEARCH =
  /^SEARCH job (EXISTS )?USING COVERING INDEX job_set_aside \(phase=\? AND queue=\? AND state=\?\)$/;

/** A step that the query plan of each of these statements must contain. */
const INTENDED_PLANS: [name: string, plan: RegExp][] = [
  ['promote', /^SEARCH job USING COVERING INDEX job_waiting \(queue=\? AND due_at<\?\)$/],
  // These two indexes have the queues in order, so a claim reads only the first ones.
  ['readyQueues', /^SCAN queue USING INDEX queue_ready$/],
  ['dueQueues', /^SEARCH queue USING INDEX queue_due \(next_due_at<\?\)$/],
  ['readyNamedQueues', /^SEARCH queue USING INDEX sqlite_autoindex_queue_1 \(name=\?\)$/],
  ['dueNamedQueues', /^SEARCH queue USING INDEX sqlite_autoindex_queue_1 \(name=\?\)$/],
  ['nextDueAt', /^SEARCH job USING COVERING INDEX job_waiting \(queue=\?\)$/],
  ['readyHeads', /^SEARCH job USING COVERING INDEX job_ready \(queue=\?\)$/],
  ['runningJobs', /^SCAN job USING INDEX job_running$/],
  // The index begins with the queue, so that the running jobs of a limited queue can be counted. There are few.
  ['deleteIdleWorker', /^SCAN job USING COVERING INDEX job_running$/],
  ['workers', /^SCAN job USING INDEX job_running$/],
  ['readyQueues', /^SEARCH job USING COVERING INDEX job_running \(queue=\?\)$/],
  ['claimedJob', /^SEARCH job USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
  ['takeJob', /^SEARCH job USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
  ['settleJob', /^SEARCH job USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
  ['jobById', /^SEARCH job USING INDEX sqlite_autoindex_job_1 \(id=\?\)$/],
  ['deadJobs', /^SEARCH job USING COVERING INDEX job_dead \(number<\?\)$/],
  ['endedJobs', /^SEARCH job USING INDEX job_ended \(state=\? AND finished_at>\?\)$/],
  ['lastEnded', /^SEARCH job USING INDEX job_ended \(state=\?\)$/],
  ['updateSchedule', /^SEARCH schedule USING INDEX sqlite_autoindex_schedule_1 \(name=\?\)$/],
  ['nextTick', /^SEARCH schedule USING COVERING INDEX schedule_next/],
  ['dueSchedules', /^SEARCH schedule USING COVERING INDEX schedule_next \(next_at(>\? AND next_at)?<\?\)$/],
  ['dueSchedules', /^SEARCH schedule USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
  ['releasableSchedules', /^SEARCH schedule USING INDEX schedule_waiting \(number>\?\)$/],
  ['releasableSchedules', /^SEARCH tick USING (COVERING )?INDEX tick_open \(schedule=\?\)$/],
  ['closeTicks', /^SEARCH tick USING (COVERING )?INDEX tick_open \(schedule=\?\)$/],
  ['waitingTicks', /^SEARCH tick USING COVERING INDEX tick_waiting \(schedule=\?\)$/],
  ['deleteOldTicks', /^SEARCH tick USING PRIMARY KEY \(schedule=\? AND at<\?\)$/],
  ['unblock', /^SEARCH job USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
  ['dependentsOf', /^SEARCH dependency USING INDEX dependency_by_parent \(parent=\? AND phase=\?\)$/],
  [
    'lockDependentsOfAll',
    /^SEARCH dependency USING COVERING INDEX dependency_by_parent \(parent=\? AND phase=\?\)$/,
  ],
  ['meetDependencies', /^SEARCH dependency USING INDEX dependency_by_parent \(parent=\? AND phase=\?\)$/],
  ['cancelBlocked', /^SEARCH job USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
  ['holdBlocked', /^SEARCH job USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
  ['reopenParents', /^SEARCH dependency USING PRIMARY KEY \(child=\?\)$/],
  ['reopenChildren', /^SEARCH dependency USING INDEX dependency_by_parent \(parent=\? AND phase=\?\)$/],
  ['deleteOldKeys', /^SEARCH idempotency USING (COVERING )?INDEX idempotency_used \(used_at<\?\)$/],
  ['anyOldKey', /^SEARCH idempotency USING COVERING INDEX idempotency_used \(used_at<\?\)$/],
  ['useOfKey', /^SEARCH idempotency USING INDEX sqlite_autoindex_idempotency_1 \(key=\?\)$/],
  ['events', /^SEARCH event USING INTEGER PRIMARY KEY \(rowid>\?\)$/],
  ['eventsOfJob', /^SEARCH event USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)$/],
  ['oldestEvents', /^SEARCH event USING INTEGER PRIMARY KEY \(rowid>\?\)$/],
  ['deleteEvents', /^SEARCH event USING INTEGER PRIMARY KEY \(rowid<\?\)$/],
  ['jobsOfEvent', /^SEARCH job USING INTEGER PRIMARY KEY \(rowid>\? AND rowid<\?\)$/],
  ['rollups', /^SEARCH rollup USING PRIMARY KEY \(tier=\? AND at>\? AND at<\?\)$/],
  ['oldestWaiting', /^SEARCH job USING COVERING INDEX job_ready \(queue=\? AND priority<\?\)$/],
  ['oldestWaiting', /^SEARCH job USING INDEX job_ready \(queue=\? AND priority=\?\)$/],
  ['oldestWaiting', /^SEARCH job USING (COVERING )?INDEX job_late \(queue=\?\)$/],
  ['oldestWaiting', /^SEARCH job USING COVERING INDEX job_waiting \(queue=\?\)$/],
  ['deleteRollups', /^SEARCH rollup USING PRIMARY KEY \(tier=\? AND at<\?\)$/],
  ['oldRollups', /^SEARCH rollup USING PRIMARY KEY \(tier=\? AND at<\?\)$/],
  ['freeExpiredSlots', /^SEARCH job USING INDEX job_unique \(unique_slot=\?\)$/],
  ['retryJobs', /^SEARCH other (EXISTS )?USING (COVERING )?INDEX job_unique \(unique_slot=\?\)$/],
  ['keyHolder', /^SEARCH other USING INDEX job_unique \(unique_slot=\?\)$/],
  ['firstEventFrom', /^SEARCH event USING INTEGER PRIMARY KEY \(rowid>\?\)$/],
  ['busyQueues', /^SEARCH job (EXISTS )?USING COVERING INDEX job_ready \(queue=\?\)$/],
  ['busyQueues', /^SEARCH job (EXISTS )?USING COVERING INDEX job_waiting \(queue=\? AND due_at<\?\)$/],
  // The index includes the phase, because many jobs in the state failed may be held.
  ['busyQueues', SET_ASIDE_SEARCH],
  ['groups', /^SCAN counter$/],
  ['groupsOfQueue', /^SEARCH counter USING PRIMARY KEY \(queue=\?\)$/],
  ['readyPriorities', /^SEARCH job USING COVERING INDEX job_ready \(queue=\? AND priority<\?\)$/],
  ['setAsideCounts', /^SEARCH job USING COVERING INDEX job_set_aside \(phase=\?\)$/],
  ['cancelledWith', /^SEARCH dependency USING INDEX dependency_by_parent \(parent=\? AND phase=\?\)$/],
  [
    'cancelledDueTo',
    /^SEARCH dependency USING COVERING INDEX dependency_by_parent \(parent=\? AND phase=\?\)$/,
  ],
  ['countDue', /^SEARCH job USING COVERING INDEX job_waiting \(queue=\? AND due_at<\?\)$/],
  // Without the order of the index, all children would be sorted.
  ['childrenOfJob', /^SEARCH dependency USING INDEX dependency_by_parent \(parent=\? AND phase=\?\)$/],
  ['countChildren', /^SEARCH dependency USING COVERING INDEX dependency_by_parent \(parent=\?\)$/],
  ['attemptsOfJob', /^SEARCH attempt USING INDEX attempt_by_job \(job=\?\)$/],
];

/**
 * These statements sort few rows: the jobs and the new queues of one request, workers, the parents and cancelled children of one job, queues (all, or those of one worker),
 * kinds, and the numbers of due schedules.
 */
const MAY_SORT = [
  'lockJobs',
  'insertQueues',
  'runningAttempts',
  'attemptsOfRemovable',
  'workers',
  'workersWithoutLabels',
  'hosts',
  'dependenciesOfJob',
  'childrenOfJob',
  'cancelledDueTo',
  'cancelledWith',
  'setAsideCounts',
  ...['counts', 'countsOfQueues', 'stateCounts', 'groups', 'groupsOfQueue', 'endedJobs', 'addCounts'],
  ...['events', 'eventsOfJob', 'firstEventFrom', 'oldestEvents'],
  'oldestWaiting',
  'readyNamedQueues',
  'dueNamedQueues',
  'dueSchedules',
];

function queryPlan(connection: Connection, text: string): string[] {
  const statement = numbered(text);
  const highest = Math.max(0, ...[...statement.matchAll(/\?(\d+)/g)].map((match) => Number(match[1])));
  const values = Array.from({ length: highest || (statement.match(/\?/g)?.length ?? 0) }, () => 1);
  return connection.all(`EXPLAIN QUERY PLAN ${statement}`, ...values).map((row) => String(row.detail));
}

describe('query plans', () => {
  for (const [name, intended] of INTENDED_PLANS) {
    test(`${name} has a step in its plan that matches ${intended}`, () =>
      withSqlite(async (_, connection) => {
        for (const text of [sql[name]!].flat())
          expect(queryPlan(connection, text)).toContainEqual(expect.stringMatching(intended));
      }));
  }

  test('lists, counts and scans of a filter read the jobs by its index', () =>
    withSqlite(async (store, connection) => {
      await store.insert(
        [jobSpec('a'), jobSpec('b', { hold: true }), jobSpec('c', { runAt: NOW + 1000 })],
        NOW,
      );
      let last = '';
      const seen = (text: string): string => {
        last = text;
        return text;
      };
      const all: Connection['all'] = (text, ...values) => connection.all(seen(text), ...values);
      const get: Connection['get'] = (text, ...values) => connection.get(seen(text), ...values);
      const lists = listPart(sqliteEngine({ ...connection, all, get }));
      for (const [title, filter, plan] of FILTERS) {
        for (const read of [
          () => lists.list(filter, { limit: 50 }),
          () => lists.count(filter, 10_000, { above: 5 }),
        ]) {
          await read();
          const steps = queryPlan(connection, last);
          expect({ title, steps }).toEqual({
            title,
            steps: expect.arrayContaining([expect.stringMatching(plan)]),
          });
          expect({ title, scans: steps.filter((step) => /^SCAN job\b/.test(step)) }).toEqual({
            title,
            scans: [],
          });
        }
        await lists.scanEnd(filter, 1000);
        expect(queryPlan(connection, last).filter((step) => /^SCAN job\b/.test(step))).toEqual([]);
      }
    }));

  test('no statement reads more than all running jobs, except those of backup, repair and export', () =>
    withSqlite(async (_, connection) => {
      for (const [name, statement] of statements) {
        const scans = queryPlan(connection, statement).filter((step) =>
          /^SCAN job\b(?! USING (COVERING )?INDEX job_running$|_)/.test(step),
        );
        expect({ name, scans }).toEqual({ name, scans: [] });
      }
    }));

  test('no statement sorts, except those that sort few rows', () =>
    withSqlite(async (_, connection) => {
      for (const [name, statement] of statements) {
        if (MAY_SORT.includes(name)) continue;
        const sorts = queryPlan(connection, statement).filter((step) => step.includes('TEMP B-TREE'));
        expect({ name, sorts }).toEqual({ name, sorts: [] });
      }
    }));

  test('ready, waiting and running jobs have a partial index each', () =>
    withSqlite(async (_, connection) => {
      const rows = connection.all(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND sql LIKE '%WHERE%'",
      );
      const predicates = new Map(rows.map((row) => [row.name, String(row.sql).split('WHERE')[1]?.trim()]));
      expect(predicates.get('job_ready')).toBe("phase = 'ready'");
      expect(predicates.get('job_waiting')).toBe("phase = 'waiting'");
      expect(predicates.get('job_running')).toBe("phase = 'running'");
    }));
});
