import { SATISFIED_CONDITIONS } from '../../core/jobs/dependencies.ts';
import { STATES, type State } from '../../core/jobs/job.ts';
import type { OwnReason } from '../../core/jobs/waiting-reason.ts';
import type {
  ChildState,
  DeadJob,
  JobStore,
  ParentState,
  QueueCount,
  SetAsideCounts,
} from '../contract/jobs.ts';
import type { Row, Value } from '../row.ts';
import { mapIfFound, toAttempt, toJob } from '../rows.ts';
import { all, type Engine, get, statementsOf } from '../steps.ts';
import { CURRENT_COUNTS } from './log.ts';

type JobReads = Omit<JobStore, 'insert' | 'insertOn' | 'list' | 'scanEnd' | 'count'>;

/** The prefix followed by this character sorts after every id with the prefix, because no id contains the character. */
const LAST_CHARACTER = '\u{10ffff}';

const JOB_NUMBER = '(SELECT number FROM job WHERE id = $1)';
const firstChildren = (phase: string): string =>
  `SELECT * FROM (SELECT child, wants, phase FROM dependency WHERE parent = ${JOB_NUMBER} AND phase = '${phase}'
    ORDER BY parent, child LIMIT $2) AS ${phase}_children`;
/** The new `unique_slot` of a job that ends. A key with a time limit stays in use. */
export const UNIQUE_SLOT_OF_ENDED = 'CASE WHEN unique_while IS NULL THEN unique_slot END';
/** Is true for an attempt that is running, or whose output is in a file. */
export const HAS_FILE = `(finished_at IS NULL
  OR (output_bytes > 0 AND NOT EXISTS (SELECT 1 FROM output WHERE output.attempt = attempt.number)))`;

export const jobStatements = statementsOf((dialect) => {
  const { selectJob, isOneOf, isIn, byIndex, json, numbersIn, outputColumns } = dialect;
  /**
   * Joins the numbers of the children of jobs whose dependency is in this phase. An engine chooses no index by the condition in the CASE,
   * so it reads the children of each job in the order of the index.
   */
  const childrenOf = (jobs: string, phase: string, isWanted: string, limit = ''): string =>
    `CROSS JOIN ${numbersIn(`SELECT child AS number FROM dependency
      WHERE ${isIn('parent', `SELECT ${jobs}.number`)} AND dependency.phase = '${phase}'
        AND CASE WHEN EXISTS (SELECT 1 FROM job WHERE job.number = child AND ${isWanted}) THEN true ELSE false END
      ORDER BY parent, child${limit}`)}`;
  const setAside = `job${byIndex('job_set_aside')} WHERE phase IN ('waiting', 'held', 'blocked')`;
  const isMetBy = (end: 'cancelled' | 'deleted'): string =>
    SATISFIED_CONDITIONS[end].map((condition) => `wants = '${condition}'`).join(' OR ') || 'false';
  return {
    jobById: `${selectJob} WHERE id = $1`,
    idsStartingWith: 'SELECT id FROM job WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3',
    /** Reads the index, because the rows of dead jobs lie far apart among those of completed jobs. */
    deadJobs: `SELECT job.number, id, queue.name AS queue, job.name, last_error AS error,
      coalesce(finished_at, updated_at) AS at FROM job${byIndex('job_dead')} JOIN queue ON queue.number = job.queue
      WHERE state = 'dead' AND job.number < $1 ORDER BY job.number DESC LIMIT $2`,
    counts: `SELECT queue.name AS queue, state, CAST(jobs AS bigint) AS jobs FROM (${CURRENT_COUNTS}) AS current
      JOIN queue ON queue.number = current.queue WHERE jobs > 0`,
    countsOfQueues: `SELECT queue.name AS queue, state, CAST(jobs AS bigint) AS jobs FROM (${CURRENT_COUNTS}) AS current
      JOIN queue ON queue.number = current.queue WHERE jobs > 0 AND ${isOneOf('queue.name', '$1')}`,
    /** Adds up the counters of each state in one scan. */
    stateCounts: `SELECT ${STATES.map((state) => `CAST(coalesce(sum(CASE WHEN state = '${state}' THEN jobs END), 0) AS bigint) AS ${state}`).join(', ')}
      FROM (${CURRENT_COUNTS}) AS current`,
    dependenciesOfJob: `SELECT child.depends_on AS wanted, ordinal, dependency.phase, parent.state
      FROM job AS child JOIN dependency ON dependency.child = child.number LEFT JOIN job AS parent ON parent.number = dependency.parent
      WHERE child.id = $1 ORDER BY ordinal`,
    /** Reads the first children. The index has the children of each phase in order, so the others are not read. */
    childrenOfJob: `SELECT job.id, wants AS "on", first.phase, job.state
      FROM (SELECT * FROM (${['open', 'met', 'failed'].map(firstChildren).join(' UNION ALL ')}) AS every ORDER BY child LIMIT $2) AS first
      JOIN job ON job.number = first.child ORDER BY first.child`,
    countChildren: `SELECT count(*) AS jobs FROM (SELECT 1 FROM dependency WHERE parent = ${JOB_NUMBER}
      ORDER BY parent, phase, child LIMIT $2) AS counted`,
    stdinOfJob: `SELECT bytes FROM stdin WHERE job = ${JOB_NUMBER}`,
    outputOfAttempt: 'SELECT bytes, stderr FROM output WHERE attempt = $1',
    bytesInFiles: `SELECT output_bytes AS bytes FROM attempt WHERE number = $1 AND ${HAS_FILE}`,
    attemptsOfJob: `SELECT number, ordinal, worker_id AS "workerId", started_at AS "startedAt", finished_at AS "finishedAt",
      coalesce(duration_ms, finished_at - started_at) AS "durationMs", why, exit_code AS "exitCode", error, truncated,
      left_behind AS "leftBehind", ${outputColumns} FROM attempt WHERE job = ${JOB_NUMBER} ORDER BY ordinal`,
    /** Counts the jobs that are held, blocked or not yet due. */
    setAsideCounts: `SELECT name AS queue, reason, jobs FROM (
        SELECT queue, phase AS reason, count(*) AS jobs FROM ${setAside} AND phase IN ('held', 'blocked') GROUP BY phase, queue
        UNION ALL SELECT queue, CASE state WHEN 'failed' THEN 'retrying' ELSE 'scheduled' END, count(*)
        FROM ${setAside} AND phase = 'waiting' AND due_at > $1 GROUP BY queue, state) AS counted
      JOIN queue ON queue.number = counted.queue ORDER BY queue.number`,
    /**
     * Finds up to $3 jobs that would be cancelled by this end ($2) of the jobs $1. A running job cannot be deleted, and the end of a job
     * that has ended cancels nothing more.
     */
    cancelledWith: `WITH RECURSIVE gone (number, cause) AS (
        SELECT number, CAST($2 AS text) FROM job
          WHERE ${isOneOf('id', '$1')} AND phase <> 'ended' AND ($2 <> 'deleted' OR phase <> 'running')
        UNION SELECT one.value, 'cancelled' FROM gone ${childrenOf(
          'gone',
          'open',
          `phase IN ('blocked', 'held') AND NOT ${isOneOf('id', '$1')}
            AND coalesce(${json('policy')} ->> 'onParentFailure', 'cancel') = 'cancel'
            AND NOT CASE gone.cause WHEN 'deleted' THEN ${isMetBy('deleted')} ELSE ${isMetBy('cancelled')} END`,
          ' LIMIT $3',
        )})
      SELECT id FROM (SELECT job.number, id FROM gone JOIN job USING (number) WHERE NOT ${isOneOf('id', '$1')} LIMIT $3) AS cancelled
      ORDER BY number`,
    /**
     * Finds the jobs that were cancelled because of this one, directly or through others, and are still cancelled. $2 is 1 to omit
     * those that an earlier end of this job has cancelled. A job and the jobs cancelled with it have the same `finished_at`.
     */
    cancelledDueTo: `WITH RECURSIVE lost (number, at) AS (
        SELECT number, finished_at FROM job WHERE id = $1
        UNION SELECT one.value, at FROM lost ${childrenOf(
          'lost',
          'failed',
          "state = 'cancelled' AND (finished_at = lost.at OR $2 = 0)",
        )})
      SELECT id FROM lost JOIN job USING (number) WHERE id <> $1 ORDER BY number`,
  };
});

/** Reads jobs and what belongs to them, except lists with filters. */
export function jobPart(db: Engine): JobReads {
  const sql = jobStatements(db.dialect);
  const ids = async (statement: string, ...values: Value[]): Promise<string[]> =>
    (await db.read(() => all<{ id: string }>(statement, ...values))).map((row) => row.id);
  return {
    get: async (id) => mapIfFound(await db.read(() => get(sql.jobById, id)), toJob),
    async idsStartingWith(prefix, limit) {
      const found = await ids(sql.idsStartingWith, prefix, prefix + LAST_CHARACTER, limit);
      // An id that equals the prefix is the first of them.
      return found[0] === prefix ? [prefix] : found;
    },
    deadJobs: (limit, before = Number.MAX_SAFE_INTEGER) =>
      db.read(() => all<DeadJob>(sql.deadJobs, before, limit)),
    counts: (queues) =>
      db.read(() =>
        queues === undefined ? all<QueueCount>(sql.counts) : all<QueueCount>(sql.countsOfQueues, queues),
      ),
    stateCounts: async () => ({ ...(await db.read(() => get<Record<State, number>>(sql.stateCounts)))! }),
    async dependencies(id) {
      const rows = await db.read(() => all(sql.dependenciesOfJob, id));
      const wanted = JSON.parse(String(rows[0]?.wanted ?? '[]'));
      return rows.map(
        ({ ordinal, phase, state }) => ({ ...wanted[Number(ordinal)], phase, state }) as ParentState,
      );
    },
    children: (id, limit = Number.MAX_SAFE_INTEGER) =>
      db.read(() => all<ChildState>(sql.childrenOfJob, id, limit)),
    countChildren: async (id, most) =>
      (await db.read(() => get<{ jobs: number }>(sql.countChildren, id, most)))!.jobs,
    stdin: async (id) =>
      mapIfFound(await db.read(() => get(sql.stdinOfJob, id)), (row) =>
        Buffer.from(row.bytes as Uint8Array).toString(),
      ),
    output: async (attempt, stream) =>
      mapIfFound(
        await db.read(() => get(sql.outputOfAttempt, attempt)),
        (row: Row) => (stream === 'stderr' ? row.stderr : row.bytes) as Uint8Array | null,
      ),
    attempts: async (id) => (await db.read(() => all(sql.attemptsOfJob, id, ...db.host()))).map(toAttempt),
    setAsideCounts: async (now) => toSetAsideCounts(await db.read(() => all(sql.setAsideCounts, now))),
    cancelledWith: (wanted, end, most = Number.MAX_SAFE_INTEGER) => ids(sql.cancelledWith, wanted, end, most),
    cancelledDueTo: (id, ends = 'all') => ids(sql.cancelledDueTo, id, ends === 'last' ? 1 : 0),
    bytesInFiles: async (attempt) =>
      (await db.read(() => get<{ bytes: number }>(sql.bytesInFiles, attempt)))?.bytes ?? null,
  };
}

/** Adds up the groups of jobs that wait for the same reason. */
function toSetAsideCounts(groups: { queue: string; reason: OwnReason; jobs: number }[]): SetAsideCounts[] {
  const counts = new Map<string, SetAsideCounts>();
  for (const { queue, reason, jobs } of groups) {
    const sums = counts.get(queue) ?? { queue, held: 0, blocked: 0, retrying: 0, scheduled: 0 };
    sums[reason] += jobs;
    counts.set(queue, sums);
  }
  return [...counts.values()];
}
