import type { DatabaseSync } from 'node:sqlite';

/** A row of the table `event`. */
export interface EventRow {
  number: number;
  kind: string;
  jobs: number;
  id: string;
  detail: string;
}

/** Reads the events, and those that are not folded yet with the numbers that they will get. */
export const SELECT_EVENTS = `SELECT number, kind, jobs, id, detail FROM event
  UNION ALL SELECT last + sum(jobs) OVER (ORDER BY seq), kind, jobs, id, detail FROM log CROSS JOIN event_number WHERE kind IS NOT NULL
  ORDER BY number`;
/** Selects the counters, and what the log adds to them. */
export const COUNTER_PARTS = `SELECT queue, state, jobs FROM counter
  UNION ALL SELECT old_queue, old_state, -jobs FROM log WHERE old_queue IS NOT NULL
  UNION ALL SELECT new_queue, new_state, jobs FROM log WHERE new_queue IS NOT NULL`;
export const SELECT_COUNTERS = `SELECT state, sum(jobs) AS jobs FROM (${COUNTER_PARTS}) AS part GROUP BY state`;

/** Maps the kind of an event to the state of its job after it. `enqueued` and `jobs-pruned` are handled below. */
const STATE_AFTER: Record<string, string> = {
  ...{ started: 'processing', requeued: 'pending', retried: 'pending' },
  ...{ completed: 'completed', failed: 'failed', dead: 'dead', cancelled: 'cancelled', deleted: 'gone' },
};

/** Returns a text with the number of jobs in each state, from the event log alone, or null if events were pruned. */
export function countsFromEvents(db: DatabaseSync): string | null {
  const rows = db.prepare(SELECT_EVENTS).all();
  return countsOfEvents(rows as unknown as EventRow[]);
}

/** Does the same for rows of the event log. */
export function countsOfEvents(rows: EventRow[]): string | null {
  const states = new Map<string, string>();
  const counts = new Map<string, number>();
  const add = (state: string, jobs: number): void => void counts.set(state, (counts.get(state) ?? 0) + jobs);
  let next = 1;
  for (const { number, kind, jobs, id, detail } of rows) {
    if (number !== next + jobs - 1) return null;
    next = number + 1;
    const after = STATE_AFTER[kind];
    if (kind === 'enqueued') add('pending', jobs);
    else if (kind === 'jobs-pruned') {
      const pruned = JSON.parse(detail);
      add(pruned.state, -pruned.jobs);
    } else if (after !== undefined) {
      add(states.get(id) ?? 'pending', -1);
      add(after, 1);
      states.set(id, after);
      if (after === 'gone') states.delete(id);
    }
  }
  counts.delete('gone');
  return asText(counts);
}

/** Returns a text with the number of jobs in each state, from the counters. */
export function countsFromCounters(db: DatabaseSync): string {
  return countsOfCounters(db.prepare(SELECT_COUNTERS).all());
}

/** Does the same for rows of the counters. */
export function countsOfCounters(rows: Record<string, unknown>[]): string {
  return asText(new Map(rows.map(({ state, jobs }) => [String(state), Number(jobs)])));
}

function asText(counts: Map<string, number>): string {
  const some = [...counts].filter(([, jobs]) => jobs !== 0).map(([state, jobs]) => `${jobs} ${state}`);
  return some.sort().join(', ') || 'none';
}
