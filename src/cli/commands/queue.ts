import type { App } from '../../actions/app.ts';
import { actorOf } from '../../actions/app.ts';
import {
  changeQueue,
  deleteQueue,
  listQueues,
  pauseQueues,
  queueExists,
  readQueueInput,
  resumeQueues,
} from '../../actions/queues.ts';
import { usageError } from '../../core/errors.ts';
import { checkQueueName } from '../../core/jobs/id.ts';
import type { State } from '../../core/jobs/job.ts';
import type { QueueInput } from '../../core/rules/queue.ts';
import { formatCount } from '../../core/text/numbers.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import type { QueueObject } from '../../core/wire/wire.ts';
import { type Command, defineCommand, type Input } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { printJson, printResult } from '../print/layout.ts';
import { type Listing, listAll, listFlags, printList, timesFor } from '../print/print-list.ts';
import { type Column, printTable } from '../print/table.ts';

const QUEUE_LIST: Listing<QueueObject> = {
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
async function noteNewQueue(io: Io, app: App, name: string): Promise<void> {
  checkQueueName(name, 'queue');
  if (!(await queueExists(app, name))) io.note(`queue ${name} did not exist; creating it`);
}

function printQueue(io: Io, queue: QueueObject, now: number): void {
  if (io.json) printJson(io, queue);
  else printTable(io, QUEUE_LIST.columns(timesFor(io, now)), [queue]);
}

const list = defineCommand({
  name: 'queue list',
  summary: 'List queues with their job counts and limits',
  flags: listFlags('{name}\\t{paused}'),
  prints: { object: 'Queue' },
  examples: ['queuectl queue list', 'queuectl queue list --json=name,jobs'],
  usageHint: ([first = '']) =>
    first.startsWith('-')
      ? undefined
      : `to list the jobs of a queue: queuectl list --queue ${shellWord(first)}`,
  run: listAll(QUEUE_LIST, listQueues, 'no queues yet. The first job in a queue creates it'),
});

function pauseCommand(
  verb: 'pause' | 'resume',
  summary: string,
  act: (app: App, name: string | null, by: string) => Promise<QueueObject[]>,
): Command {
  return defineCommand({
    name: `queue ${verb}`,
    summary,
    args: 'QUEUE|--all',
    access: 'write',
    flags: { all: { help: 'all queues' } },
    prints: { object: 'Queue' },
    examples: ['mail', '--all'].map((which) => `queuectl queue ${shellWord(verb)} ${shellWord(which)}`),
    async run({ io, app, environment }, input) {
      const all = input.has('all');
      if (all && input.args.length > 0) throw usageError('give either the name of a queue or --all');
      const name = all ? null : nameOf(input);
      const opened = await app();
      const queues = await act(opened, name, actorOf(environment));
      if (all) await printList(io, QUEUE_LIST, queues, opened.clock.now());
      else printQueue(io, queues[0]!, opened.clock.now());
    },
  });
}

function nameOf(input: Input): string {
  return input.required(0, 'the queue name', 'to list the queues: queuectl queue list');
}

const set = defineCommand({
  name: 'queue set',
  summary: "Set a queue's concurrency or rate limit",
  args: 'QUEUE',
  access: 'write',
  creates: true,
  flags: {
    concurrency: { value: 'N', help: 'maximum number of concurrent jobs; none removes the limit' },
    rate: {
      value: 'N/s',
      help: 'maximum number of jobs started per second (N/s), minute (N/m) or hour (N/h); none removes the limit',
    },
  },
  prints: { object: 'Queue' },
  examples: [
    'queuectl queue set mail --concurrency 2',
    'queuectl queue set api --rate 10/s',
    'queuectl queue set api --rate none',
  ],
  notes: ['Limits apply across all workers. Changes take effect immediately.'],
  async run({ io, app }, input) {
    const name = nameOf(input);
    const given: QueueInput = {};
    for (const field of ['concurrency', 'rate'] as const) {
      const text = input.one(field);
      if (text !== undefined) given[field] = text;
    }
    if (Object.keys(given).length === 0)
      throw usageError('queue set requires --concurrency or --rate', 'for help: queuectl help queue set');
    const changes = readQueueInput(given, (field) => `--${field}`);
    const opened = await app();
    await noteNewQueue(io, opened, name);
    printQueue(io, await changeQueue(opened, name, changes), opened.clock.now());
  },
});

const deleteCommand = defineCommand({
  name: 'queue delete',
  summary: 'Delete an empty queue and its limits',
  args: 'QUEUE',
  access: 'write',
  examples: ['queuectl queue delete mail'],
  async run({ io, app }, input) {
    const name = nameOf(input);
    await deleteQueue(await app(), name);
    printResult(io, { deleted: [name] }, `deleted queue ${name}`, name);
  },
});

export default {
  list,
  pause: pauseCommand('pause', 'Pause a queue; running jobs continue', pauseQueues),
  resume: pauseCommand('resume', 'Resume a paused queue', resumeQueues),
  set,
  delete: deleteCommand,
};
