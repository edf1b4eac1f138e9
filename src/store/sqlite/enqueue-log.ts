import type { Connection } from './connection.ts';
import * as sql from './sql/insert-one.ts';

/** Records that jobs were enqueued. Jobs with consecutive numbers share one event. `end` must be called after the last job. */
export function newEnqueueLog(db: Connection) {
  // `queue` is null if the jobs are in several queues.
  let batch: { first: number; last: number; id: string; queue: number | null } | null = null;
  const end = (): void => {
    if (batch === null) return;
    const { first, last, id, queue } = batch;
    const jobs = last - first + 1;
    db.run(sql.recordEnqueued, jobs, db.now(), db.actor, jobs, first, jobs === 1 ? id : null, queue);
    batch = null;
  };
  return {
    add(number: number, id: string, queue: number): void {
      if (batch !== null && batch.last === number - 1) {
        batch.last = number;
        if (batch.queue !== queue) batch.queue = null;
        return;
      }
      end();
      batch = { first: number, last: number, id, queue };
    },
    end,
  };
}
