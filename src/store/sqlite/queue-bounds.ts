import { phaseOf, type QueuedSpec } from '../new-rows.ts';
import type { Row } from '../row.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/queues.ts';

/** The first ready job and the first due time of a queue (see OpenQueue), and whether the stored ones are still to be changed. */
interface Bounds {
  priority: number | null;
  job: number | null;
  dueAt: number | null;
  lowersReady: boolean;
  lowersDue: boolean;
}

/** Keeps the bounds of the queues into which jobs are inserted. `end` must be called after the last job. */
export function newQueueBounds(db: Connection, now: number) {
  const byQueue = new Map<number, Bounds>();
  return {
    /** Returns the number of a queue, and creates the queue on first use. Reads its bounds, so that those that stay are not written. */
    queueNumber(name: string): number {
      const row = db.get(sql.queueBounds, name);
      const number = row === undefined ? queueNumber(db, name) : (row.number as number);
      byQueue.set(number, boundsOf(row));
      return number;
    },
    add(number: number, { job, queue }: QueuedSpec): void {
      let bounds = byQueue.get(queue);
      if (bounds === undefined) {
        bounds = boundsOf();
        byQueue.set(queue, bounds);
      }
      const due = job.runAt ?? now;
      const phase = phaseOf(job, due, now);
      if (phase === 'ready') addReady(bounds, job.priority, number);
      if (phase === 'waiting' && (bounds.dueAt === null || due < bounds.dueAt))
        Object.assign(bounds, { dueAt: due, lowersDue: true });
    },
    end(): void {
      for (const [queue, { priority, job, dueAt, lowersReady, lowersDue }] of byQueue) {
        if (lowersReady) db.run(sql.lowerReadyBound, queue, priority, job);
        if (lowersDue) db.run(sql.lowerNextDueAt, queue, dueAt);
      }
    },
  };
}

function boundsOf({ ready_priority = null, ready_job = null, next_due_at = null }: Row = {}): Bounds {
  return {
    priority: ready_priority as number | null,
    job: ready_job as number | null,
    dueAt: next_due_at as number | null,
    lowersReady: false,
    lowersDue: false,
  };
}

function addReady(bounds: Bounds, priority: number, number: number): void {
  const isFirst =
    bounds.job === null ||
    priority > bounds.priority! ||
    (priority === bounds.priority && number < bounds.job);
  if (isFirst) Object.assign(bounds, { priority, job: number, lowersReady: true });
}

/** Returns the number of a queue, and creates the queue on first use. */
export function queueNumber(db: Connection, name: string): number {
  const found = db.get(sql.queueNumber, name);
  return found === undefined ? db.insert(sql.insertQueue, name) : (found.number as number);
}
