import { untilStoreOfStartingWorker } from '../../actions/starting-workers.ts';
import { stopWorkers } from '../../actions/stop-workers.ts';
import { usageError } from '../../core/errors.ts';
import { countOf } from '../../core/words.ts';
import { defineCommand } from '../command.ts';
import { durationFlag } from '../read-flags.ts';

export default defineCommand({
  name: 'worker stop',
  summary: 'Stop workers after their running jobs finish',
  args: '[ID… | --all]',
  access: 'any-version',
  flags: {
    all: { help: 'stop all workers; the default without ids' },
    force: { help: 'stop running jobs and put them back in their queues (at-most-once jobs become dead)' },
    leave: {
      help: 'make the workers exit at once, but leave their jobs running; the next worker takes them over',
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
  ],
  notes: [
    'Without ids, all workers stop, including workers that are still starting.',
    'You can also stop all workers by creating a file named .stop_workers in the state directory. This is the directory next to the database, such as ~/.queuectl/queue.db.d. For the default database, you can create the file in ~/.queuectl (or $QUEUECTL_HOME) instead.',
  ],
  async run({ io, app, location }, input) {
    if (input.has('force') && input.has('leave')) throw usageError('use --force or --leave, not both');
    if (input.has('all') && input.args.length > 0) throw usageError('use worker ids or --all, not both');
    const timeoutMs = durationFlag(input, 'timeout');
    const order = input.has('force') ? 'force' : input.has('leave') ? 'leave' : 'drain';
    await untilStoreOfStartingWorker(location);
    const stopped = await stopWorkers(await app(), {
      order,
      ...(input.args.length === 0 ? {} : { workerIds: input.args }),
      timeoutMs,
      onWait(remaining) {
        const jobs = remaining.flatMap((worker) => worker.currentJobs);
        if (jobs.length > 0 && order === 'drain' && !io.quiet && !io.json) {
          const named =
            jobs.length > 5 ? `${jobs.slice(0, 5).join(', ')} and ${jobs.length - 5} more` : jobs.join(', ');
          io.err(
            `waiting for ${countOf(remaining.length, 'worker')} to finish ${jobs.length === 1 ? 'job' : 'jobs'} ${named}\n`,
          );
        }
      },
    });
    if (io.json) io.out(`${JSON.stringify({ stopped })}\n`);
    else io.out(stopped === 0 ? 'no workers were running\n' : `stopped ${countOf(stopped, 'worker')}\n`);
  },
});
