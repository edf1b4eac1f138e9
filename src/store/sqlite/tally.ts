import { inAllTimeAndTiers, MAX_NAMES, MAX_PAIRS, OTHER_LABEL } from '../../core/rules/tiers.ts';
import type { Connection } from './connection.ts';
import * as sql from './sql/tally.ts';

// A kind is a pair of queue and name that has its own figures (a row of `rollup_kind`).
/** Limits the cache of one batch, because every job of an enqueued file may have another name. */
const MOST_CACHED_KINDS = 1000;

/** Collects the figures of one transaction, so that a batch costs one write for each of its queues and names. */
export interface Tally {
  countEnqueued(queue: number, name: string, jobs?: number): void;
  /** Counts a job, given by its number, that was cancelled before it ran. */
  countDropped(job: number): void;
  write(now: number): void;
}

type Count = Record<'enqueued' | 'dropped', number>;
type KindCounts = Record<'pairs' | 'names', number>;

export function newTally(db: Connection): Tally {
  const kinds = kindFinder(db);
  const counts = new Map<number, Count>();
  // The jobs of an enqueued file mostly have the same queue and name.
  let last: { queue: number; name: string; count: Count } | null = null;
  const countOf = (queue: number, name: string): Count => {
    if (last?.queue === queue && last.name === name) return last.count;
    const kind = kinds(queue, name);
    const count = counts.get(kind) ?? { enqueued: 0, dropped: 0 };
    counts.set(kind, count);
    last = { queue, name, count };
    return count;
  };
  return {
    countEnqueued(queue, name, jobs = 1) {
      countOf(queue, name).enqueued += jobs;
    },
    countDropped(job) {
      const { queue, name } = db.get(sql.labelsOfJob, job)!;
      countOf(queue as number, name as string).dropped++;
    },
    write(now) {
      for (const [kind, { enqueued, dropped }] of counts)
        inAllTimeAndTiers(now, (tier, start) => db.run(sql.countJobs, tier, start, kind, enqueued, dropped));
    },
  };
}

/** Returns a function that finds the number under which a queue and a name are counted, and adds it on first use. */
export function kindFinder(db: Connection): (queue: number, name: string) => number {
  const cache = new Map<string, number>();
  let kindCounts: KindCounts | undefined;
  /** Returns the name to count under: OTHER_LABEL if there are too many names, or too many pairs of queue and name. */
  const nameFor = (name: string): string => {
    if (name === '' || name === OTHER_LABEL) return name;
    kindCounts ??= db.get<KindCounts>(sql.countKinds)!;
    if (kindCounts.pairs >= MAX_PAIRS) return OTHER_LABEL;
    return kindCounts.names < MAX_NAMES || db.get(sql.nameExists, name) !== undefined ? name : OTHER_LABEL;
  };
  const findOrAdd = (queue: number, name: string): number => {
    const found = db.get(sql.kindOf, name, queue);
    if (found !== undefined) return found.number as number;
    const allowed = nameFor(name);
    if (allowed !== name) return findOrAdd(queue, allowed);
    kindCounts = undefined;
    return db.insert(sql.insertKind, name, queue);
  };
  return (queue, name) => {
    const key = `${queue} ${name}`;
    const kind = cache.get(key) ?? findOrAdd(queue, name);
    if (cache.size < MOST_CACHED_KINDS) cache.set(key, kind);
    return kind;
  };
}
