import { addFigures, type MetricsSnapshot } from '../core/figures.ts';
import { OTHER_LABEL } from '../core/tiers.ts';
import { WAITING_REASONS } from '../core/waiting-reason.ts';

/** At most this many queues have labels of their own in the metrics. */
const MAX_LABELLED_QUEUES = 200;

/** Merges the queues beyond the limit into OTHER_LABEL, because a reader of the metrics keeps a time series for every label. */
export function withFewQueues(snapshot: MetricsSnapshot): MetricsSnapshot {
  if (snapshot.waiting.length <= MAX_LABELLED_QUEUES) return snapshot;
  const labelled = new Set(snapshot.waiting.slice(0, MAX_LABELLED_QUEUES).map((one) => one.queue));
  const relabelled = <T extends { queue: string }>(rows: T[]): T[] =>
    rows.map((row) => (labelled.has(row.queue) ? row : { ...row, queue: OTHER_LABEL }));
  return {
    ...snapshot,
    jobs: relabelled(snapshot.jobs),
    waiting: mergeRows(relabelled(snapshot.waiting), (to, from) => {
      if (from.since !== null) to.since = Math.min(to.since ?? from.since, from.since);
    }),
    reasons: mergeRows(relabelled(snapshot.reasons), (to, from) => {
      for (const reason of WAITING_REASONS) to.jobs[reason] += from.jobs[reason];
    }),
    totals: mergeRows(relabelled(snapshot.totals), addFigures, ({ queue, name }) => `${queue},${name}`),
    // A slot may serve several of the merged queues, so a sum would count it more than once.
    slots: mergeRows(relabelled(snapshot.slots), (to, from) => {
      to.total = Math.max(to.total, from.total);
      to.busy += from.busy;
      to.limit = null;
    }),
  };
}

/** Merges the rows with the same key, which is the queue by default. `add` adds a row to another. */
function mergeRows<T extends { queue: string }>(
  rows: T[],
  add: (to: T, from: T) => void,
  keyOf = (row: T): string => row.queue,
): T[] {
  const sums = new Map<string, T>();
  for (const row of rows) {
    const sum = sums.get(keyOf(row));
    if (sum === undefined) sums.set(keyOf(row), structuredClone(row));
    else add(sum, row);
  }
  return [...sums.values()];
}
