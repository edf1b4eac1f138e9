import { STATES, type State } from '../../core/jobs/job.ts';
import type { ChildState, DeadJob, JobStore, ParentState, QueueCount } from '../contract/jobs.ts';
import type { Row } from '../row.ts';
import { mapIfFound, toJob } from '../rows.ts';
import { all, type Engine, get, statementsOf } from '../steps.ts';

type JobReads = Pick<
  JobStore,
  | ('get' | 'idsStartingWith' | 'deadJobs' | 'counts' | 'stateCounts' | 'dependencies' | 'children')
  | ('countChildren' | 'stdin' | 'output' | 'bytesInFiles')
>;

/** The prefix followed by this character sorts after every id with the prefix, because no id contains the character. */
const LAST_CHARACTER = '\u{10ffff}';

const JOB_NUMBER = '(SELECT number FROM job WHERE id = $1)';
const firstChildren = (phase: string): string =>
  `SELECT * FROM (SELECT child, wants, phase FROM dependency WHERE parent = ${JOB_NUMBER} AND phase = '${phase}'
    ORDER BY parent, child LIMIT $2) AS ${phase}_children`;
/** Is true for an attempt that is running, or whose output is in a file. */
export const HAS_FILE = `(finished_at IS NULL
  OR (output_bytes > 0 AND NOT EXISTS (SELECT 1 FROM output WHERE output.attempt = attempt.number)))`;

export const jobStatements = statementsOf(({ selectJob, counts, isOneOf, byIndex }) => ({
  jobById: `${selectJob} WHERE id = $1`,
  idsStartingWith: 'SELECT id FROM job WHERE id >= $1 AND id < $2 ORDER BY id LIMIT $3',
  /** Reads the index, because the rows of dead jobs lie far apart among those of completed jobs. */
  deadJobs: `SELECT job.number, id, queue.name AS queue, job.name, last_error AS error,
    coalesce(finished_at, updated_at) AS at FROM job${byIndex('job_dead')} JOIN queue ON queue.number = job.queue
    WHERE state = 'dead' AND job.number < $1 ORDER BY job.number DESC LIMIT $2`,
  counts: `SELECT queue.name AS queue, state, CAST(jobs AS bigint) AS jobs FROM (${counts}) AS current
    JOIN queue ON queue.number = current.queue WHERE jobs > 0`,
  countsOfQueues: `SELECT queue.name AS queue, state, CAST(jobs AS bigint) AS jobs FROM (${counts}) AS current
    JOIN queue ON queue.number = current.queue WHERE jobs > 0 AND ${isOneOf('queue.name', '$1')}`,
  /** Adds up the counters of each state in one scan. */
  stateCounts: `SELECT ${STATES.map((state) => `CAST(coalesce(sum(CASE WHEN state = '${state}' THEN jobs END), 0) AS bigint) AS ${state}`).join(', ')}
    FROM (${counts}) AS current`,
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
}));

/** Reads jobs and what belongs to them. Lists with filters depend too much on the indexes that an engine chooses. */
export function jobPart(db: Engine): JobReads {
  const sql = jobStatements(db.dialect);
  return {
    get: async (id) => mapIfFound(await db.read(() => get(sql.jobById, id)), toJob),
    async idsStartingWith(prefix, limit) {
      const rows = await db.read(() =>
        all<{ id: string }>(sql.idsStartingWith, prefix, prefix + LAST_CHARACTER, limit),
      );
      const ids = rows.map((row) => row.id);
      // An id that equals the prefix is the first of them.
      return ids[0] === prefix ? [prefix] : ids;
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
    bytesInFiles: async (attempt) =>
      (await db.read(() => get<{ bytes: number }>(sql.bytesInFiles, attempt)))?.bytes ?? null,
  };
}
