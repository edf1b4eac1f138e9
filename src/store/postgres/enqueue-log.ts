import * as sql from './sql/events.ts';
import type { Transaction } from './transaction.ts';

/** A job that was inserted. */
export interface AddedJob {
  number: number;
  id: string;
  queue: number;
  name: string | null;
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

/**
 * Creates a log of enqueued jobs. Jobs with consecutive numbers share one event, and jobs with the same queue and name are
 * counted together. `write` must be called after the last job.
 */
export function newEnqueueLog() {
  const runs: Run[] = [];
  const groups = new Map<string, Group>();
  return {
    add({ number, id, queue, name, stdinBytes }: AddedJob): void {
      const run = runs.at(-1);
      if (run !== undefined && run.first + run.jobs === number) {
        run.jobs++;
        if (run.queue !== queue) run.queue = null;
      } else runs.push({ first: number, jobs: 1, id, queue });
      const key = `${queue} ${name ?? ''}`;
      const group = groups.get(key) ?? { queue, name: name ?? '', jobs: 0, bytes: 0 };
      group.jobs++;
      group.bytes += stdinBytes;
      groups.set(key, group);
    },
    async write(tx: Transaction, now: number): Promise<void> {
      const [run, group] = [runs[0], [...groups.values()][0]];
      if (run === undefined || group === undefined) return;
      // Most often there is one run of one group, which needs one row.
      const rows =
        runs.length === 1 && groups.size === 1
          ? [{ ...eventColumns(run), ...countColumns(group) }]
          : [...runs.map(eventColumns), ...[...groups.values()].map(countColumns)];
      const column = (name: keyof LogRow) => rows.map((row: LogRow) => row[name] ?? null);
      await tx.run(
        sql.logEnqueued,
        ...[tx.now(), tx.actor, now, column('kind'), column('jobs'), column('first_job'), column('id')],
        ...[column('queue'), column('new_queue'), column('new_bytes'), column('name')],
      );
    },
  };
}

type LogRow = Partial<ReturnType<typeof eventColumns> & ReturnType<typeof countColumns>>;

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
