import { describe, expect, test } from 'bun:test';
import { dependencyStatements } from '../../src/store/parts/dependencies.ts';
import { insertStatements } from '../../src/store/parts/insert.ts';
import { jobActionStatements } from '../../src/store/parts/job-actions.ts';
import { jobStatements } from '../../src/store/parts/jobs.ts';
import { queueStatements } from '../../src/store/parts/queues.ts';
import { retentionStatements } from '../../src/store/parts/retention.ts';
import { scheduleStatements } from '../../src/store/parts/schedules.ts';
import { settleStatements } from '../../src/store/parts/settle.ts';
import { workerStatements } from '../../src/store/parts/workers.ts';
import type { Connection } from '../../src/store/sqlite/connection.ts';
import { numbered, SQLITE } from '../../src/store/sqlite/engine.ts';
import * as claims from '../../src/store/sqlite/sql/claims.ts';
import * as counts from '../../src/store/sqlite/sql/counts.ts';
import * as events from '../../src/store/sqlite/sql/events.ts';
import * as figures from '../../src/store/sqlite/sql/figures.ts';
import * as insert from '../../src/store/sqlite/sql/insert.ts';
import * as insertOne from '../../src/store/sqlite/sql/insert-one.ts';
import * as jobs from '../../src/store/sqlite/sql/jobs.ts';
import * as queues from '../../src/store/sqlite/sql/queues.ts';
import * as tally from '../../src/store/sqlite/sql/tally.ts';
import * as workers from '../../src/store/sqlite/sql/workers.ts';
import { withSqlite } from '../support/sqlite.ts';

const { list, countJobs, scanEnd, ...listStatements } = jobs;
const { JOBS_AT_ONCE: _, insertJobs, insertPlainJobs, ...rowStatements } = insert;
const { insertJob, countAdded } = insertOne;
const jobActions = jobActionStatements(SQLITE);
const retention = retentionStatements(SQLITE);
/** Every statement except those of backup, repair and export, which may read whole tables. */
const sql = {
  ...listStatements,
  ...jobStatements(SQLITE),
  ...rowStatements,
  ...insertStatements(SQLITE),
  insertJob,
  countAdded,
  ...counts,
  ...jobActions,
  editJobs: jobActions.editJobs({ columns: ['queue', 'command'], setsDue: true, exceptAtMostOnce: true }),
  ...dependencyStatements(SQLITE),
  lockParents: SQLITE.lockParents,
  ...settleStatements(SQLITE),
  ...claims,
  ...workers,
  ...workerStatements(SQLITE),
  ...queues,
  ...queueStatements(SQLITE),
  ...scheduleStatements(SQLITE),
  ...events,
  ...figures,
  ...tally,
  ...retention,
  endedJobs: retention.endedJobs(100),
  insertJobs: insertJobs(50),
  insertPlainJobs: insertPlainJobs(50),
  listAll: list.all(''),
  countByQueueAndState: countJobs.byQueueAndState(''),
  listSetAside: list.bySetAside(''),
  countSetAside: countJobs.bySetAside(''),
  scanEndSetAside: scanEnd.bySetAside,
  listReady: list.byReady(''),
  countReady: countJobs.byReady(''),
  scanEndReady: scanEnd.byReady,
  listDue: list.byDue(''),
  countByName: countJobs.byName(' AND +state IN (?)'),
  listByName: list.byName(' AND +state IN (?)'),
  scanEndByName: scanEnd.byName,
  scanEndByQueueAndState: scanEnd.byQueueAndState,
  listByQueueAndState: list.byQueueAndState(''),
};

const SET_ASIDE_SEARCH =
  /^SEARCH job (EXISTS )?USING COVERING INDEX job_set_aside \(phase=\? AND queue=\? AND state=\?\)$/;

/** A step that the query plan of each of these statements must contain. */
const INTENDED_PLANS: [name: keyof typeof sql, plan: RegExp][] = [
  ['promote', /^SEARCH job USING COVERING INDEX job_waiting \(queue=\? AND due_at<\?\)$/],
  // These two indexes have the queues in order, so a claim reads only the first ones.
  ['readyQueues', /^SCAN queue USING INDEX queue_ready$/],
  ['dueQueues', /^SEARCH queue USING INDEX queue_due \(next_due_at<\?\)$/],
  ['readyNamedQueues', /^SEARCH queue USING INDEX sqlite_autoindex_queue_1 \(name=\?\)$/],
  ['dueNamedQueues', /^SEARCH queue USING INDEX sqlite_autoindex_queue_1 \(name=\?\)$/],
  ['nextDueAt', /^SEARCH job USING COVERING INDEX job_waiting \(queue=\?\)$/],
  ['readyHeads', /^SEARCH job USING COVERING INDEX job_ready \(queue=\?\)$/],
  ['readyPriorityBelow', /^SEARCH job USING COVERING INDEX job_ready \(queue=\? AND priority<\?\)$/],
  ['runningJobs', /^SCAN job USING INDEX job_running$/],
  ['deleteIdleWorker', /^SEARCH job USING COVERING INDEX job_running \(worker_id=\?\)$/],
  ['workers', /^SEARCH job USING (COVERING )?INDEX job_running \(worker_id=\?\)$/],
  ['claimedJob', /^SEARCH job USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
  ['takeJob', /^SEARCH job USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
  ['settleJob', /^SEARCH job USING INTEGER PRIMARY KEY \(rowid=\?\)$/],
  ['jobById', /^SEARCH job USING INDEX sqlite_autoindex_job_1 \(id=\?\)$/],
  ['listAll', /^SEARCH job USING INTEGER PRIMARY KEY \(rowid<\?\)$/],
  // With only one of the two columns the cost would grow with the jobs of the queue or of the state.
  [
    'listByQueueAndState',
    /^SEARCH job USING INDEX \w+ \((queue=\? AND state|state=\? AND queue)=\? AND number<\?\)$/,
  ],
  ['deadJobs', /^SEARCH job USING COVERING INDEX job_dead \(number<\?\)$/],
  [
    'countByQueueAndState',
    /^SEARCH job USING COVERING INDEX job_by_queue \(queue=\? AND state=\? AND number<\?\)$/,
  ],
  ['queuesOfState', /^SCAN counter$/],
  ['listByName', /^SEARCH job USING INDEX job_by_name \(name=\? AND number<\?\)$/],
  ['countByName', /^SEARCH job USING INDEX job_by_name \(name=\? AND number<\?\)$/],
  ['scanEndByName', /^SEARCH job USING COVERING INDEX job_by_name \(name=\? AND number<\?\)$/],
  [
    'scanEndByQueueAndState',
    /^SEARCH job USING COVERING INDEX job_by_queue \(queue=\? AND state=\? AND number<\?\)$/,
  ],
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
  ['countAttempts', /^SEARCH rollup USING PRIMARY KEY \(tier=\? AND at=\? AND kind=\?\)$/],
  ['packedTimes', /^SEARCH rollup USING PRIMARY KEY \(tier=\? AND at=\? AND kind=\?\)$/],
  ['rollups', /^SEARCH rollup USING PRIMARY KEY \(tier=\? AND at>\? AND at<\?\)$/],
  ['oldestWaiting', /^SEARCH job USING COVERING INDEX job_ready \(queue=\? AND priority<\?\)$/],
  ['oldestWaiting', /^SEARCH job USING INDEX job_ready \(queue=\? AND priority=\?\)$/],
  ['oldestWaiting', /^SEARCH job USING (COVERING )?INDEX job_late \(queue=\?\)$/],
  ['oldestWaiting', /^SEARCH job USING COVERING INDEX job_waiting \(queue=\?\)$/],
  ['anyOldRollup', /^SEARCH rollup USING PRIMARY KEY \(tier=\? AND at<\?\)$/],
  ['endingAttempt', /^SEARCH rollup_kind USING COVERING INDEX \w+ \(name=\? AND queue=\?\)/],
  ['freeExpiredSlots', /^SEARCH job USING INDEX job_unique \(unique_slot=\?\)$/],
  ['retryJobs', /^SEARCH other (EXISTS )?USING (COVERING )?INDEX job_unique \(unique_slot=\?\)$/],
  ['keyHolder', /^SEARCH other USING INDEX job_unique \(unique_slot=\?\)$/],
  ['firstEventFrom', /^SEARCH event USING INTEGER PRIMARY KEY \(rowid>\?\)$/],
  ['busyQueues', /^SEARCH job (EXISTS )?USING COVERING INDEX job_ready \(queue=\?\)$/],
  ['busyQueues', /^SEARCH job (EXISTS )?USING COVERING INDEX job_waiting \(queue=\? AND due_at<\?\)$/],
  // The index includes the phase, because many jobs in the state failed may be held.
  ['busyQueues', SET_ASIDE_SEARCH],
  [
    'listSetAside',
    /^SEARCH job USING INDEX job_set_aside \(phase=\? AND queue=\? AND state=\? AND number<\?\)$/,
  ],
  [
    'countSetAside',
    /^SEARCH job USING COVERING INDEX job_set_aside \(phase=\? AND queue=\? AND state=\? AND number<\?\)$/,
  ],
  [
    'scanEndSetAside',
    /^SEARCH job USING COVERING INDEX job_set_aside \(phase=\? AND queue=\? AND state=\? AND number<\?\)$/,
  ],
  ['listReady', /^SEARCH job USING INDEX job_ready \(queue=\? AND priority=\? AND number<\?\)$/],
  ['countReady', /^SEARCH job USING COVERING INDEX job_ready \(queue=\? AND priority=\? AND number<\?\)$/],
  ['scanEndReady', /^SEARCH job USING COVERING INDEX job_ready \(queue=\? AND priority=\? AND number<\?\)$/],
  ['listDue', /^SEARCH job USING COVERING INDEX job_waiting \(queue=\? AND due_at<\?\)$/],
  ['countDue', /^SEARCH job USING COVERING INDEX job_waiting \(queue=\? AND due_at<\?\)$/],
  ['setAsideCounts', /^SEARCH job USING COVERING INDEX job_set_aside \(phase=\? AND queue=\?\)$/],
  ['setAsideCounts', SET_ASIDE_SEARCH],
  ['setAsideCounts', /^SEARCH job USING COVERING INDEX job_waiting \(queue=\? AND due_at>\?\)$/],
  // Without the order of the index, all children would be sorted.
  ['childrenOfJob', /^SEARCH dependency USING INDEX dependency_by_parent \(parent=\? AND phase=\?\)$/],
  ['countChildren', /^SEARCH dependency USING COVERING INDEX dependency_by_parent \(parent=\?\)$/],
  ['cancelledChildren', /^SEARCH dependency USING INDEX dependency_by_parent \(parent=\? AND phase=\?\)$/],
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
  'countKinds',
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
        expect(queryPlan(connection, sql[name])).toContainEqual(expect.stringMatching(intended));
      }));
  }

  test('no statement reads all jobs, except those of backup, repair and export', () =>
    withSqlite(async (_, connection) => {
      for (const [name, statement] of Object.entries(sql)) {
        const scans = queryPlan(connection, statement).filter((step) => /^SCAN job\b(?!_)/.test(step));
        const allowed = name === 'runningJobs' ? ['SCAN job USING INDEX job_running'] : [];
        expect({ name, scans }).toEqual({ name, scans: allowed });
      }
    }));

  test('no statement sorts, except those that sort few rows', () =>
    withSqlite(async (_, connection) => {
      for (const [name, statement] of Object.entries(sql)) {
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
