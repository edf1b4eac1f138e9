import { untilStoreOfStartingWorker } from '../../actions/starting-workers.ts';
import { hostsOf, jobsLeftToGuards, onHosts, stopWorkers } from '../../actions/stop-workers.ts';
import { usageError } from '../../core/errors.ts';
import { countOf } from '../../core/words.ts';
import { defineCommand } from '../command.ts';
import { describeLeftJobs, lateHostNotes } from '../host-notes.ts';
import { durationFlag } from '../read-flags.ts';

export default defineCommand({
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
    'Without ids, all workers stop, including workers of this host that are still starting. If the queue is in PostgreSQL, the workers of all hosts stop. Use --host for the workers of one host. To list the hosts: queuectl worker list.',
    'You can also stop all workers by creating a file named .stop_workers in the state directory. This is the directory next to the database, such as ~/.queuectl/queue.db.d. For the default database, you can create the file in ~/.queuectl (or $QUEUECTL_HOME) instead.',
  ],
  async run({ io, app, location }, input) {
    if (input.has('force') && input.has('leave')) throw usageError('use --force or --leave, not both');
    const host = input.one('host');
    if (host === '') throw usageError('--host must not be empty', 'to list the hosts: queuectl worker list');
    if (Number(input.has('all')) + Number(input.args.length > 0) + Number(host !== undefined) > 1)
      throw usageError('use only one of worker ids, --host and --all');
    const timeoutMs = durationFlag(input, 'timeout');
    const order = input.has('force') ? 'force' : input.has('leave') ? 'leave' : 'drain';
    await untilStoreOfStartingWorker(location);
    const opened = await app();
    const { ids, workerCount, hosts, isAway } = await stopWorkers(opened, {
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
    });
    if (io.json) io.out(`${JSON.stringify({ stopped: workerCount, hosts })}\n`);
    else if (workerCount === 0 && isAway)
      io.out(`host ${host} has no lease now; its workers stop when they reach the queue again\n`);
    else if (workerCount === 0) io.out(`no workers were running${onHosts(hosts)}\n`);
    else io.out(`stopped ${countOf(workerCount, 'worker')}${onHosts(hosts)}\n`);
    const left = order === 'leave' ? await jobsLeftToGuards(opened, ids) : null;
    if (left !== null) io.note(describeLeftJobs(opened, left), 'always');
  },
});
