import type { App } from '../actions/app.ts';
import { queueExists } from '../actions/queues.ts';
import { exactDuration } from '../core/duration.ts';
import { usageError } from '../core/errors.ts';
import { checkQueueName } from '../core/id.ts';
import type { State } from '../core/job.ts';
import { formatCount } from '../core/numbers.ts';
import type { QueueObject } from '../core/wire.ts';
import type { Flag, Input } from './command.ts';
import type { Io } from './io.ts';
import { jsonText } from './layout.ts';
import { type Listing, printList } from './print-list.ts';
import { type Column, printTable } from './table.ts';
import { timesFor } from './times.ts';

export const QUEUE_LIST: Listing<QueueObject> = {
  id: (queue) => queue.name,
  columns: (times) => [
    { title: 'QUEUE', value: (queue) => queue.name, shortens: true },
    {
      title: 'STATUS',
      value: (queue) => (queue.paused ? 'paused' : 'open'),
      color: (queue) => (queue.paused ? 'yellow' : undefined),
      drop: 0,
    },
    {
      title: 'RUNNING',
      value: (queue) =>
        `${queue.jobs.processing}${queue.concurrency === null ? '' : `/${queue.concurrency}`}`,
    },
    { title: 'RATE', value: (queue) => queue.rate ?? '-', drop: 1 },
    {
      title: 'AGING',
      value: (queue) => (queue.priority_aging_ms === null ? '-' : exactDuration(queue.priority_aging_ms)),
      drop: 5,
    },
    { title: 'PENDING', ...countCells('pending') },
    { title: 'FAILED', ...countCells('failed') },
    { title: 'DEAD', ...countCells('dead') },
    { title: 'COMPLETED', ...countCells('completed'), drop: 2 },
    { title: 'CANCELLED', ...countCells('cancelled'), drop: 3 },
    { title: 'PAUSED BY', value: (queue) => queue.paused_by ?? '', drop: 4 },
    { title: 'OLDEST WAITING', value: (queue) => times.text(queue.oldest_waiting_at), drop: 2 },
  ],
};

/** Returns the cells of a column for the number of jobs in a state, with thousands separators in aligned tables. */
function countCells(state: State): Pick<Column<QueueObject>, 'value' | 'alignedValue'> {
  return {
    value: (queue) => String(queue.jobs[state]),
    alignedValue: (queue) => formatCount(queue.jobs[state]),
  };
}

/** Prints a note if the queue does not exist yet, because a mistyped name also creates one. Throws if the name is invalid. */
export async function noteNewQueue(io: Io, app: App, name: string): Promise<void> {
  checkQueueName(name, 'queue');
  if (!(await queueExists(app, name))) io.note(`queue ${name} did not exist; creating it`);
}

export function printQueue(io: Io, queue: QueueObject): void {
  if (io.json) io.out(`${jsonText(io, queue)}\n`);
  else printTable(io, QUEUE_LIST.columns(timesFor(io, Date.now())), [queue]);
}

export const ALL_QUEUES_FLAG: Record<string, Flag> = { all: { help: 'all queues' } };

/** Reads the name of a queue, or null for --all. Throws if both or none are given. */
export function queueOrAll(input: Input): string | null {
  if (!input.has('all'))
    return input.required(0, 'the queue name', 'to list the queues: queuectl queue list');
  if (input.args.length > 0) throw usageError('give either the name of a queue or --all');
  return null;
}

/** Prints the queue that was changed, or a list of all queues if `name` is null. */
export async function printChangedQueues(io: Io, name: string | null, queues: QueueObject[]): Promise<void> {
  if (name !== null) printQueue(io, queues[0]!);
  else await printList(io, QUEUE_LIST, queues, Date.now());
}
