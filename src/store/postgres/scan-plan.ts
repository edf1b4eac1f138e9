import { SEARCHED_JOBS, type StoreFilter } from '../../core/jobs/filter.ts';
import { STATES, type State } from '../../core/jobs/job.ts';
import { WAITING_STATES, type WaitingSelection } from '../../core/jobs/waiting-reason.ts';
import { MAX_DUE, OWN_REASONS } from '../set-aside.ts';
import type { Bind } from './binder.ts';
import { conditionsOf } from './conditions.ts';
import * as sql from './sql/lists.ts';
import type { Transaction } from './transaction.ts';

type Phase = 'ready' | 'waiting' | 'held' | 'blocked' | 'running' | 'ended';

/** The index scans for a filter. No job is in two of them. */
export interface IndexScans {
  /** `phases` and `due` are scanned, unless there is one scan for the whole filter. */
  scan: 'all' | 'byName' | null;
  phases: { queue: number; state: State; phase: Phase }[];
  /** The queues whose jobs that are due and not ready yet are scanned. */
  due: number[];
  /** Jobs up to this number are left out, because a text search covers only the newest jobs. */
  floor: number;
  /** Returns the conditions that are checked job by job. */
  conditions(bind: Bind): string[];
}

/** Chooses the index scans for a filter. Returns null if its queue does not exist. */
export async function planScans(tx: Transaction, filter: StoreFilter): Promise<IndexScans | null> {
  const { waiting, name, text } = filter;
  const states = filter.states?.length ? [...new Set(filter.states)] : null;
  const [queues, newest, due] = await Promise.all([
    tx.all<QueueNumber>(sql.queues),
    text === undefined ? 0 : newestJobNumber(tx),
    waiting === undefined ? [] : tx.all<DueCount>(sql.countDue(MAX_DUE + 1), waiting.due, waiting.now),
  ]);
  const wanted = queues.filter((queue) => filter.queue === undefined || queue.name === filter.queue);
  if (filter.queue !== undefined && wanted.length === 0) return null;
  const numbersOf = (names: string[] = []): number[] =>
    queues.filter((queue) => names.includes(queue.name)).map((queue) => queue.number);
  const numbers = wanted.map((queue) => queue.number);
  const inStates = (bind: Bind) => (states === null ? [] : [`state = ANY(${bind(states, 'text[]')})`]);
  const conditions = (bind: Bind) => conditionsOf(filter, numbersOf(waiting?.due), bind);
  const none = { scan: null, phases: [], due: [], floor: 0 };
  // A name is the most selective key, and a text search reads the newest jobs in order.
  if (name !== undefined || text !== undefined)
    return {
      ...{ ...none, scan: name === undefined ? 'all' : 'byName' },
      floor: text === undefined ? 0 : Math.max(0, newest - SEARCHED_JOBS),
      conditions: (bind) => [
        ...(filter.queue === undefined ? [] : [`queue = ${bind(numbers[0]!, 'bigint')}`]),
        ...inStates(bind),
        ...conditions(bind),
      ],
    };
  if (waiting !== undefined)
    return {
      ...none,
      ...waitingScans(waiting, states, numbers, numbersOf(waiting.due), due),
      conditions: (bind) => [...inStates(bind), ...conditions(bind)],
    };
  if (filter.queue === undefined && states === null) return { ...none, scan: 'all', conditions };
  const phases = numbers.flatMap((queue) =>
    (states ?? STATES).flatMap((state) => PHASES[state].map((phase) => ({ queue, state, phase }))),
  );
  return { ...none, phases, conditions };
}

interface QueueNumber {
  number: number;
  name: string;
}

interface DueCount {
  queue: number;
  jobs: number;
}

const WAITING_PHASES: Phase[] = ['ready', 'waiting', 'held', 'blocked'];
/** The phases that a job in each state may have. */
const PHASES: Record<State, Phase[]> = {
  ...{ pending: WAITING_PHASES, failed: WAITING_PHASES, processing: ['running'] },
  ...{ completed: ['ended'], dead: ['ended'], cancelled: ['ended'] },
};

/** Scans only the selected jobs, so that a page does not cost more if many other jobs are waiting. */
function waitingScans(
  waiting: WaitingSelection,
  states: readonly State[] | null,
  queues: readonly number[],
  dueQueues: readonly number[],
  dueCounts: readonly DueCount[],
): Pick<IndexScans, 'phases' | 'due'> {
  const wantedStates = WAITING_STATES.filter((state) => states === null || states.includes(state));
  const plan: Pick<IndexScans, 'phases' | 'due'> = { phases: [], due: [] };
  for (const queue of queues) {
    const isDue = dueQueues.includes(queue);
    const dueJobs = isDue ? (dueCounts.find((count) => count.queue === queue)?.jobs ?? 0) : 0;
    // All delayed jobs are scanned if others of them are selected, too, or if too many are due.
    const scansDelayed = isDue && (waiting.scheduled || waiting.retrying || dueJobs > MAX_DUE);
    if (dueJobs > 0 && !scansDelayed) plan.due.push(queue);
    if (isDue) plan.phases.push(...wantedStates.map((state) => ({ queue, state, phase: 'ready' as const })));
    for (const [reason, phase, state] of OWN_REASONS)
      if (wantedStates.includes(state) && (waiting[reason] || (scansDelayed && phase === 'waiting')))
        plan.phases.push({ queue, state, phase });
  }
  return plan;
}

export async function newestJobNumber(tx: Transaction): Promise<number> {
  return (await tx.get<{ number: number | null }>(sql.newestJobNumber))?.number ?? 0;
}
