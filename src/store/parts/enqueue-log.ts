import type { QueuedSpec } from '../new-rows.ts';
import { type Engine, run as runStatement, type Steps, statementsOf } from '../steps.ts';

/** Jobs with consecutive numbers. `queue` is null if they are in several queues. */
interface Run {
  first: number;
  jobs: number;
  id: string;
  queue: number | null;
}

/** The jobs of one queue and name. */
interface Group {
  queue: number;
  name: string;
  jobs: number;
  bytes: number;
}

/** A row of the log about new jobs: an event of consecutive jobs, a count of a group, or both. */
type EnqueueRow = Partial<ReturnType<typeof eventColumns> & ReturnType<typeof countColumns>>;

export const enqueueLogStatements = statementsOf(({ rowsOf }) => ({
  logEnqueued: `INSERT INTO log (at, actor, kind, jobs, first_job, id, queue, new_queue, new_state, new_bytes, figure, figure_at, name)
    SELECT $1, $2, kind, jobs, first_job, id, queue, new_queue, CASE WHEN new_queue IS NOT NULL THEN 'pending' END, new_bytes,
      CASE WHEN new_queue IS NOT NULL THEN 'enqueued' END, $3, name
    FROM ${rowsOf('$4', {
      ...{ kind: 'text', jobs: 'bigint', first_job: 'bigint', id: 'text', queue: 'bigint' },
      ...{ new_queue: 'bigint', new_bytes: 'bigint', name: 'text' },
    })}`,
}));

/**
 * Creates a log of enqueued jobs. Jobs with consecutive numbers share one event, and jobs with the same queue and name are
 * counted together. `write` must be called after the last job.
 */
export function newEnqueueLog() {
  const runs: Run[] = [];
  const groups = new Map<string, Group>();
  // The jobs of an enqueued file mostly have consecutive numbers, and the same queue and name.
  let run: Run | null = null;
  let group: Group | null = null;
  const groupOf = (queue: number, name: string): Group => {
    if (group?.queue === queue && group.name === name) return group;
    const key = `${queue} ${name}`;
    group = groups.get(key) ?? { queue, name, jobs: 0, bytes: 0 };
    groups.set(key, group);
    return group;
  };
  return {
    add(number: number, { job: { id, name, stdin }, queue }: QueuedSpec): void {
      if (run !== null && run.first + run.jobs === number) {
        run.jobs++;
        if (run.queue !== queue) run.queue = null;
      } else {
        run = { first: number, jobs: 1, id, queue };
        runs.push(run);
      }
      const counted = groupOf(queue, name ?? '');
      counted.jobs++;
      if (stdin !== null) counted.bytes += Buffer.byteLength(stdin);
    },
    *write(db: Engine, now: number): Steps<void> {
      if (run === null || group === null) return;
      // Most often there is one run of one group, which needs one row.
      const rows: EnqueueRow[] =
        runs.length === 1 && groups.size === 1
          ? [{ ...eventColumns(run), ...countColumns(group) }]
          : [...runs.map(eventColumns), ...[...groups.values()].map(countColumns)];
      const { logEnqueued } = enqueueLogStatements(db.dialect);
      yield* runStatement(logEnqueued, db.now(), db.actor, now, JSON.stringify(rows));
    },
  };
}

const eventColumns = ({ first, jobs, id, queue }: Run) => ({
  ...{ kind: 'enqueued', jobs, first_job: first, queue },
  id: jobs === 1 ? id : null,
});

const countColumns = ({ queue, name, jobs, bytes }: Group) => ({
  jobs,
  new_queue: queue,
  new_bytes: bytes,
  name,
});
