import { SKIPPED } from '../../actions/act.ts';
import type { App } from '../../actions/app.ts';
import { keyless, retry, retryAllDead } from '../../actions/retry.ts';
import { selectJobs } from '../../actions/select.ts';
import { QueueError } from '../../core/errors.ts';
import { countOf } from '../../core/words.ts';
import { SHORT_IDS } from '../act.ts';
import { defineCommand } from '../command.ts';
import { atMostOnceFields, printChanged, warnStartedAgain } from '../print-changed.ts';
import { warnStillCancelled } from '../warn-dependents.ts';

/** Finds the jobs. Someone who types `all` means --all, but a job may have that id. */
async function namedJobs(app: App, names: string[]): Promise<string[]> {
  try {
    return await selectJobs(app, { names });
  } catch (error) {
    if (!(error instanceof QueueError) || names.join() !== 'all') throw error;
    throw new QueueError(error.code, error.message, 'to retry all dead jobs: queuectl dlq retry --all');
  }
}

export default defineCommand({
  name: 'dlq retry',
  summary: 'Retry dead jobs',
  args: '(ID… | --all)',
  most: Number.POSITIVE_INFINITY,
  access: 'write',
  flags: { all: { help: 'retry all dead jobs, except those enqueued with --at-most-once' } },
  examples: ['queuectl dlq retry job2', 'queuectl dlq retry --all'],
  notes: [
    "A retried job becomes pending again, and its attempts are counted from 0. 'queuectl show' still lists the earlier attempts.",
    SHORT_IDS,
  ],
  async run(context, input) {
    if (input.has('all') === input.args.length > 0) {
      throw new QueueError(
        'usage',
        input.has('all') ? 'use ids or --all, not both' : 'dlq retry requires ids or --all',
        'queuectl dlq list',
      );
    }
    const app = await context.app();
    const { io } = context;
    const retried = input.has('all')
      ? await retryAllDead(app)
      : await retry(app, await namedJobs(app, input.args), ['dead']);
    const { changed, keyless: left, skipped, why, startedAgain } = retried;
    if (changed.length === 0 && left.length > 0) throw keyless(left[0]!, why);
    if (changed.length === 0 && skipped.length > 0)
      throw new QueueError(
        'wrong-state',
        `nothing was retried: ${countOf(skipped.length)} ${SKIPPED}`,
        `queuectl dlq retry ${skipped[0]}`,
      );
    printChanged(io, 'retried', changed, atMostOnceFields(retried));
    warnStartedAgain(io, startedAgain);
    await warnStillCancelled(io, app, changed);
    if (left.length > 0) io.warn(`${countOf(left.length)} ${why}`);
    if (skipped.length > 0) io.warn(`${countOf(skipped.length)} ${SKIPPED}`);
    return left.length + skipped.length > 0 ? 7 : 0;
  },
});
