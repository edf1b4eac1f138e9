import { expect, test } from 'bun:test';
import type { JobSpec } from '../../src/core/jobs/job.ts';
import { claimStatements } from '../../src/store/parts/claims.ts';
import { dependencyStatements } from '../../src/store/parts/dependencies.ts';
import { insertStatements } from '../../src/store/parts/insert.ts';
import { settleStatements } from '../../src/store/parts/settle.ts';
import type { ServerConnection } from '../../src/store/postgres/connection/connection.ts';
import { POSTGRES } from '../../src/store/postgres/engine.ts';
import * as claims from '../../src/store/postgres/sql/claims.ts';
import * as settlements from '../../src/store/postgres/sql/settle.ts';
import type { JobStatements } from '../../src/store/steps.ts';
import type { Store } from '../../src/store/store.ts';
import { jobSpec, NOW } from '../support/jobs.ts';
import { withPostgres } from '../support/postgres.ts';

const { IS_BUSY: _, readyHeads, takeFirst, takeFirstOfOne, ...chosen } = claims;
const texts: Record<string, string | JobStatements> = {
  ...chosen,
  ...claimStatements(POSTGRES),
  ...settlements,
  ...settleStatements(POSTGRES),
  ...dependencyStatements(POSTGRES),
  ...insertStatements(POSTGRES),
  lockParents: POSTGRES.lockParents,
  ...{
    readyHeads: readyHeads(4),
    takeFirst: takeFirst(4, 0),
    takeAhead: takeFirst(2, 2),
    takeFirstOfOne: takeFirstOfOne(4, 0),
    takeAheadOfOne: takeFirstOfOne(2, 2),
  },
};
const statements = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, [text].flat()[0]!]));

/** Statements that read all running jobs, all queues or all workers, or that PostgreSQL cannot explain. */
const READS_ALL = [
  ...[
    'runningJobs',
    'jobsOfWorker',
    'wishes',
    'runningLimit',
    'freeWorkers',
    'busyQueues',
    'anyBusyQueueExcept',
    'lastAttempt',
    'lockIdle',
  ],
];

const fromPlace = (priority: string, number: string): string[] => [
  `job_ready on job, queue = ANY AND priority = ${priority} AND number >= ${number}`,
  `job_ready on job_1, queue = ANY AND priority < ${priority}`,
];

/** The indexes by which each of these statements must find its rows, with their conditions. */
const INTENDED: [name: string, ...parts: string[]][] = [
  ['openQueues', 'queue_pkey on queue_1, number = ready.queue', 'job_ready on job_2, queue > step_2.queue'],
  ['openQueues', 'job_waiting on job_4, queue > step_3.queue', 'job_running on job, queue = queue.number'],
  ['promote', 'job_waiting on job_1, queue = open.queue AND due_at <= $2', 'job_pkey on job, number = ANY'],
  ['takeFirst', ...fromPlace('open.priority', 'open.number'), 'job_pkey on job_2, number = ANY'],
  ['takeFirstOfOne', ...fromPlace('$5', '$6')],
  ['takeChosen', 'job_pkey on job, number = ANY'],
  ['busyQueues', 'job_running on job, queue = queue.number', 'job_ready on job_1, queue = queue.number'],
  ['busyQueues', 'job_waiting on job_2, queue = queue.number'],
  ['busyQueues', "job_by_queue on job_3, queue = queue.number AND state = 'failed' AND phase = $3"],
  ['dependentsOf', "dependency_by_parent on dependency, parent = $1 AND phase = 'open'"],
  ['lockDependentsOfAll', "dependency_by_parent on dependency, parent = ANY AND phase = 'open'"],
  ['meetDependencies', "dependency_by_parent on dependency, parent = $1 AND phase = 'open'"],
  ['reopenChildren', "dependency_by_parent on dependency, parent = ANY AND phase = 'failed'"],
  ['reopenParents', 'dependency_pkey on dependency, child = ANY'],
  ['lockFailedChildren', "dependency_by_parent on dependency, parent = ANY AND phase = 'failed'"],
];

/** Returns the scans of a plan as `index on table, condition`, or as `table` if the table is read as a whole. */
async function scansOf(db: ServerConnection, statement: string): Promise<string[]> {
  const parameters = Math.max(0, ...[...statement.matchAll(/\$(\d+)/g)].map(([, number]) => Number(number)));
  const values = parameters === 0 ? '' : `(${Array.from({ length: parameters }, () => 'NULL')})`;
  const rows = await db.write('claim', async (tx) => {
    await tx.run(`PREPARE explained AS ${statement}`);
    const plan = await tx.all(`EXPLAIN (COSTS OFF) EXECUTE explained${values}`);
    await tx.run('DEALLOCATE explained');
    return plan;
  });
  const text = rows.map((row) => row['QUERY PLAN']).join('\n');
  const scans = text.matchAll(
    /(?:Index(?: Only)? Scan(?: Backward)? using (\w+)|Seq Scan|Bitmap Heap Scan) on (\w+(?: \w+)?)(?:\n\s*Index Cond: \((.*)\))?/g,
  );
  return [...scans].map(([, index, table, condition]) => {
    const alias = table!.split(' ').at(-1);
    return index === undefined ? alias! : `${index} on ${alias}, ${plainCondition(condition ?? '')}`;
  });
}

/** Removes parentheses, types and arrays from a condition. Results of subqueries are named as servers before version 17 do it. */
function plainCondition(condition: string): string {
  return condition
    .replace(/ANY \(+.*?\)+(?=$| AND)/g, 'ANY')
    .replaceAll(/::text|[()]/g, '')
    .replaceAll(/InitPlan (\d+)\.col1/g, (_, number) => `$${number - 1}`);
}

const many = (fields: Partial<JobSpec>) =>
  Array.from({ length: 2000 }, (_, i) => jobSpec(`job-${i}`, fields));
/** The server analyzes a table only after some of its rows have changed. */
const NEW_STORE = 'a new store';
/** Stores with which plans are made. They are still used when the contents have changed. */
const CONTENTS: Record<string, (store: Store) => Promise<unknown>> = {
  [NEW_STORE]: async () => {},
  'ready jobs': (store) => store.insert(many({}), NOW),
  'waiting jobs': (store) => store.insert(many({ runAt: NOW + 1000 }), NOW),
  'cancelled jobs': async (store) => store.cancel(await store.insert(many({}), NOW, (job) => job.id), NOW),
};

/** Tells whether a scan without a condition is intended: there are few queues and workers, and openQueues reads only the first row of two indexes. */
const isSmall = (name: string, scan: string): boolean =>
  / on queue, $|^worker$/.test(scan) || (name === 'openQueues' && /^job_(ready|waiting) /.test(scan));

test.each(Object.keys(CONTENTS))(
  'rows are found by the intended indexes if a plan is made with %s',
  (contents) =>
    withPostgres(async (store, db) => {
      await CONTENTS[contents]!(store);
      if (contents !== NEW_STORE) await db.write('migrate', (tx) => tx.run('ANALYZE job'));
      for (const [name, ...parts] of INTENDED)
        expect([name, await scansOf(db, statements[name]!)]).toEqual([name, expect.arrayContaining(parts)]);
      for (const [name, statement] of Object.entries(statements)) {
        if (READS_ALL.includes(name)) continue;
        const whole = (await scansOf(db, statement)).filter((scan) => /^(?!.*,)|, $/.test(scan));
        expect([name, whole.filter((scan) => !isSmall(name, scan))]).toEqual([name, []]);
      }
    }),
);
