import {
  describeSuspended,
  hostsOf,
  isReachable,
  jobsLeftToGuards,
  onHosts,
  stopBySignal,
  stopWorkers,
} from '../../actions/workers/stop-workers.ts';
import { listWorkers } from '../../actions/workers/workers.ts';
import { usageError } from '../../core/errors.ts';
import { countOf } from '../../core/text/words.ts';
import type { WorkerObject } from '../../core/wire/wire.ts';
import { hostName } from '../../files/read.ts';
import { defineCommand, WORKER_PROCESS } from '../frame/command.ts';
import { durationFlag } from '../frame/read-flags.ts';
import { describeLeftJobs, lateHostNotes } from '../print/host-notes.ts';
import { printJson } from '../print/layout.ts';
import { type Listing, listAll, listFlags } from '../print/print-list.ts';

const stop = defineCommand({
  name: 'worker stop',
  summary: 'Stop workers after their running jobs finish',
  args: '[ID… | --host NAME | --all]',
  access: 'any-version',
  flags: {
    all: { help: 'stop the workers of all hosts; the default without ids' },
    host: { value: 'NAME', help: 'stop the workers of this host' },
    force: { help: 'stop running jobs and put them back in their queues (at-most-once jobs become dead)' },
    leave: {
      help: 'make the workers exit at once, but leave their jobs running; the next worker of the host takes them over',
    },
    timeout: {
      value: 'TIME',
      help: 'wait at most this long for the workers; they still stop when their jobs finish',
    },
  },
  examples: [
    'queuectl worker stop',
    'queuectl worker stop --force',
    'queuectl worker stop --timeout 30s',
    'queuectl worker stop d4d198dd3ec4',
    'queuectl worker stop --host build-2 --leave',
  ],
  notes: [
    'Without ids, all workers stop, except those of a worker start that has only just begun. If the queue is in PostgreSQL, the workers of all hosts stop. Use --host for the workers of one host. To list the hosts: queuectl worker list.',
    'You can also stop all workers by creating a file named .stop_workers in the state directory. This is the directory next to the database, such as ~/.queuectl/queue.db.d. For the default database, you can create the file in ~/.queuectl (or $QUEUECTL_HOME) instead.',
  ],
  async run({ io, app, location, storeName }, input) {
    if (input.has('force') && input.has('leave')) throw usageError('use --force or --leave, not both');
    const host = input.one('host');
    if (host === '') throw usageError('--host must not be empty', 'to list the hosts: queuectl worker list');
    if (Number(input.has('all')) + Number(input.args.length > 0) + Number(host !== undefined) > 1)
      throw usageError('use only one of worker ids, --host and --all');
    const timeoutMs = durationFlag(input, 'timeout');
    const order = input.has('force') ? 'force' : input.has('leave') ? 'leave' : 'drain';
    const isForHere = input.args.length === 0 && (host === undefined || host === hostName());
    let signalled = 0;
    const stopHere = async (why: string): Promise<void> => {
      if (order !== 'leave') signalled = await stopBySignal(await storeName(), order, WORKER_PROCESS);
      if (signalled > 0)
        io.note(`${why}; stopping ${countOf(signalled, 'worker')} of this host by signals`, 'always');
    };
    // Without a connection, a stop still reaches the workers of this host. When they have ended, their connections are free.
    if (isForHere && order !== 'leave' && !(await isReachable(location)))
      await stopHere('the server cannot be reached');
    const opened = await app();
    let suspended = '';
    const { ids, hosts, isAway, ...stopped } = await stopWorkers(opened, {
      order,
      ...(input.args.length === 0 ? {} : { workerIds: input.args }),
      ...(host === undefined ? {} : { host }),
      timeoutMs,
      onWait(remaining) {
        const jobs = remaining.flatMap((worker) => worker.currentJobs);
        if (jobs.length > 0 && order === 'drain' && !io.quiet && !io.json) {
          const named =
            jobs.length > 5 ? `${jobs.slice(0, 5).join(', ')} and ${jobs.length - 5} more` : jobs.join(', ');
          io.err(
            `waiting for ${countOf(remaining.length, 'worker')}${onHosts(hostsOf(remaining))} to finish ${jobs.length === 1 ? 'job' : 'jobs'} ${named}\n`,
          );
        }
      },
      onLateHosts: lateHostNotes(io, opened),
      onFullDisk: isForHere && order !== 'leave' ? () => stopHere('the disk is full') : undefined,
      onSuspended(pids) {
        const note = describeSuspended(pids);
        if (note !== suspended) io.note(note, 'always');
        suspended = note;
      },
    });
    const workerCount = Math.max(stopped.workerCount, signalled);
    if (io.json) printJson(io, { stopped: workerCount, hosts });
    else if (workerCount === 0 && isAway)
      io.out(`host ${host} has no lease now; its workers stop when they reach the queue again\n`);
    else if (workerCount === 0) io.out(`no workers were running${onHosts(hosts)}\n`);
    else io.out(`stopped ${countOf(workerCount, 'worker')}${onHosts(hosts)}\n`);
    const left = order === 'leave' ? await jobsLeftToGuards(opened, ids) : null;
    if (left !== null) io.note(describeLeftJobs(opened, left), 'always');
  },
});

export const WORKER_LIST: Listing<WorkerObject> = {
  id: (worker) => worker.id,
  columns: (times) => [
    { title: 'WORKER', value: (worker) => worker.id },
    { title: 'PID', value: (worker) => String(worker.pid) },
    { title: 'HOST', value: (worker) => worker.hostname, drop: 2 },
    { title: 'STATUS', value: (worker) => worker.status },
    { title: 'QUEUES', value: (worker) => worker.queues.join(','), drop: 1 },
    { title: 'STARTED', drop: 3, value: (worker) => times.text(worker.started_at) },
    { title: 'HEARTBEAT', value: (worker) => times.text(worker.last_heartbeat), drop: 0 },
    { title: 'SLOTS', value: slotsInUse, drop: 4 },
    { title: 'JOBS', value: (worker) => worker.current_jobs.join(','), shrinks: true },
  ],
};

const list = defineCommand({
  name: 'worker list',
  summary: 'List active workers',
  flags: listFlags('{id}\\t{status}'),
  prints: { object: 'Worker' },
  examples: ['queuectl worker list', 'queuectl worker list --json=id,status,current_jobs'],
  run: listAll(WORKER_LIST, listWorkers, 'no worker is running; to start one: queuectl worker start'),
});

/** Returns how many slots of a worker are in use. Jobs that were claimed ahead or adopted have none, so it can have more jobs than slots. */
export function slotsInUse({ current_jobs, concurrency }: WorkerObject): string {
  return `${Math.min(current_jobs.length, concurrency)}/${concurrency}`;
}

export default { stop, list };
