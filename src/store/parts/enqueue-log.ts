import type { Engine, Steps } from '../steps.ts';

/** A job that was inserted. */
interface AddedJob {
  number: number;
  id: string;
  queue: number;
  name: string;
  stdinBytes: number;
}

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

/** What is logged of new jobs: an event of a run of them, their group, or both. */
export type EnqueueRow = Partial<ReturnType<typeof eventColumns> & ReturnType<typeof countColumns>>;

/**
 * Creates a log of enqueued jobs. Jobs with consecutive numbers share one event, and jobs with the same queue and name are
 * counted together. `write` must be called after the last job.
 */
export function newEnqueueLog() {
  const runs: Run[] = [];
  const groups = new Map<string, Group>();
  // The jobs of an enqueued file mostly have the same queue and name.
  let last: Group | null = null;
  const groupOf = (queue: number, name: string): Group => {
    if (last?.queue === queue && last.name === name) return last;
    const key = `${queue} ${name}`;
    last = groups.get(key) ?? { queue, name, jobs: 0, bytes: 0 };
    groups.set(key, last);
    return last;
  };
  return {
    add({ number, id, queue, name, stdinBytes }: AddedJob): void {
      const run = runs.at(-1);
      if (run !== undefined && run.first + run.jobs === number) {
        run.jobs++;
        if (run.queue !== queue) run.queue = null;
      } else runs.push({ first: number, jobs: 1, id, queue });
      const group = groupOf(queue, name);
      group.jobs++;
      group.bytes += stdinBytes;
    },
    *write(db: Engine, now: number): Steps<void> {
      const [run, group] = [runs[0], [...groups.values()][0]];
      if (run === undefined || group === undefined) return;
      // Most often there is one run of one group, which needs one row.
      const rows: EnqueueRow[] =
        runs.length === 1 && groups.size === 1
          ? [{ ...eventColumns(run), ...countColumns(group) }]
          : [...runs.map(eventColumns), ...[...groups.values()].map(countColumns)];
      yield* db.logEnqueued(rows, now);
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
