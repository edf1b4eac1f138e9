import type { State } from '../../core/jobs/job.ts';
import { WAITING_STATES, type WaitingSelection } from '../../core/jobs/waiting-reason.ts';
import { MAX_DUE, OWN_REASONS } from '../set-aside.ts';
import type { Connection } from './connection.ts';
import type { IndexScan } from './scan-plan.ts';
import { readyPriorityBelow } from './sql/claims.ts';
import * as sql from './sql/jobs.ts';
import { queueNumber } from './sql/queues.ts';

/** The index of ready jobs has the jobs of each priority in order. With more priorities than this, all waiting jobs are scanned. */
const MAX_PRIORITIES = 32;

/** Scans the indexes of the selected jobs, so that a page does not cost more if many other jobs are waiting. */
export function waitingScans(
  db: Connection,
  waiting: WaitingSelection,
  states: readonly State[] | null,
  queue: number | undefined,
): IndexScan[] {
  const dueQueues = new Set(waiting.due.map((name) => db.get(queueNumber, name)?.number));
  const wantedStates = WAITING_STATES.filter((state) => states === null || states.includes(state));
  const queues =
    queue === undefined ? new Set(wantedStates.flatMap((state) => queuesOf(db, state))) : [queue];
  return [...queues].flatMap((number) => {
    const ready = dueQueues.has(number) ? readyScans(db, number) : [];
    if (ready === null)
      return wantedStates.map((state): IndexScan => ({ by: 'byQueueAndState', keys: [number, state] }));
    const due = dueQueues.has(number) ? dueScans(db, waiting, number) : [];
    const scansDelayed = due === null;
    const setAside = OWN_REASONS.filter(
      ([reason, phase, state]) =>
        wantedStates.includes(state) && (waiting[reason] || (scansDelayed && phase === 'waiting')),
    ).map(([, phase, state]): IndexScan => ({ by: 'bySetAside', keys: [phase, number, state] }));
    return [...ready, ...(due ?? []), ...setAside];
  });
}

/**
 * Returns a scan for each priority of the ready jobs of a queue. Returns null if all waiting jobs of the queue are to be scanned,
 * because there are too many priorities.
 */
function readyScans(db: Connection, queue: number): IndexScan[] | null {
  const scans: IndexScan[] = [];
  for (let below = Number.MAX_SAFE_INTEGER; ; ) {
    const next = db.get(readyPriorityBelow, queue, below)?.priority as number | undefined;
    if (next === undefined) return scans;
    if (scans.length === MAX_PRIORITIES) return null;
    scans.push({ by: 'byReady', keys: [queue, next] });
    below = next;
  }
}

/**
 * Returns the scan of the jobs of a queue that are due and that no worker has made ready yet. Returns null if all delayed jobs
 * are to be scanned instead: because others of them are selected, too, or because too many are due.
 */
function dueScans(
  db: Connection,
  { now, scheduled, retrying }: WaitingSelection,
  queue: number,
): IndexScan[] | null {
  if (scheduled || retrying) return null;
  const due = db.get(sql.countDue, queue, now, MAX_DUE + 1)!.jobs as number;
  if (due > MAX_DUE) return null;
  return due === 0 ? [] : [{ by: 'byDue', keys: [queue, now] }];
}

/** Returns the queues that have jobs of this state. An index by state alone would slow down every change of a job. */
export function queuesOf(db: Connection, state: State): number[] {
  return db.all(sql.queuesOfState, state).map((row) => row.queue as number);
}
