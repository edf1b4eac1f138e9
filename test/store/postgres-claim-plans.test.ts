import { expect, test } from 'bun:test';
import type { Connection } from '../../src/store/postgres/connection.ts';
import * as claims from '../../src/store/postgres/sql/claims.ts';
import * as dependencies from '../../src/store/postgres/sql/dependencies.ts';
import * as settlements from '../../src/store/postgres/sql/settle.ts';
import { withPostgres } from '../support/postgres.ts';

const { readyHeads, readyHeadsByPriority, takeFirst, ...claimStatements } = claims;
const statements: Record<string, string> = {
  ...claimStatements,
  ...settlements,
  ...dependencies,
  ...{ readyHeads: readyHeads(4), readyHeadsByPriority: readyHeadsByPriority(4), takeFirst: takeFirst(4) },
};

/** Statements that read all running jobs, all queues or all workers, or that PostgreSQL cannot explain. */
const READS_ALL = ['runningJobs', 'endReasons', 'runningLimit', 'busyQueues', 'lastAttempt', 'lockIdle'];

/** The indexes by which each of these statements must find its rows, with their conditions. */
const INTENDED: [name: string, ...parts: string[]][] = [
  ['openQueues', 'queue_pkey on queue, number = ANY', 'job_ready on job_1, queue = queue.number'],
  ['openQueues', 'job_waiting on job_2, queue = queue.number', 'job_running on job, queue = queue.number'],
  ['promote', 'job_waiting on job_1, queue = open.queue AND due_at <= $2', 'job_pkey on job, number = ANY'],
  ['takeFirst', 'job_ready on job, queue = open.queue', 'job_pkey on job_1, number = ANY'],
  ['takeChosen', 'job_pkey on job, number = ANY'],
  ['readyHeadsByPriority', 'job_ready on job, queue = $1 AND priority = step.priority'],
  ['settleJobs', 'job_pkey on job, number = one.job', 'attempt_pkey on attempt, number = one.attempt'],
  ['busyQueues', 'job_running on job, queue = queue.number', 'job_ready on job_1, queue = queue.number'],
  ['busyQueues', 'job_waiting on job_2, queue = queue.number'],
  ['busyQueues', "job_set_aside on job_3, phase = 'waiting' AND queue = queue.number AND state = 'failed'"],
  ['lockDependents', "dependency_by_parent on dependency, parent = $1 AND phase = 'open'"],
  ['meetDependencies', 'dependency_pkey on dependency, child = pair.child AND parent = pair.parent'],
  ['lockFailedChildren', "dependency_by_parent on dependency, parent = ANY AND phase = 'failed'"],
];

/** Returns the scans of a plan as `index on table, condition`, or as `table` if the table is read as a whole. */
async function scansOf(db: Connection, statement: string): Promise<string[]> {
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

/** Removes parentheses, types and arrays from a condition. */
function plainCondition(condition: string): string {
  return condition.replace(/ANY \(+.*?\)+(?=$| AND)/g, 'ANY').replaceAll(/::text|[()]/g, '');
}

test('a plan that is made while the tables are empty finds every row by the intended index', () =>
  withPostgres(async (_, db) => {
    for (const [name, ...parts] of INTENDED)
      expect([name, await scansOf(db, statements[name]!)]).toEqual([name, expect.arrayContaining(parts)]);
  }));

test('no statement of a claim or a settlement reads a whole table of jobs, attempts or dependencies', () =>
  withPostgres(async (_, db) => {
    for (const [name, statement] of Object.entries(statements)) {
      if (READS_ALL.includes(name)) continue;
      const whole = (await scansOf(db, statement)).filter(
        (scan) => !scan.includes(',') || scan.endsWith(', '),
      );
      // These scans stop at the first row.
      const allowed = name === 'openQueues' ? ['job_ready on job_3, ', 'job_waiting on job_4, '] : [];
      expect([name, whole.filter((scan) => !allowed.includes(scan))]).toEqual([name, []]);
    }
  }));
