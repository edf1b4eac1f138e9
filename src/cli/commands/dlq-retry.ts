import { describeSkipped } from '../../actions/act.ts';
import type { App } from '../../actions/app.ts';
import { previewRetry, type RetryOptions, refusal, retryJobs } from '../../actions/retry.ts';
import { selectJobs } from '../../actions/select.ts';
import { QueueError, usageError } from '../../core/errors.ts';
import { countOf } from '../../core/words.ts';
import { defineCommand } from '../command.ts';
import { DRY_RUN_FLAG, SHORT_IDS_NOTE } from '../job-action-command.ts';
import { atMostOnceFields, printChanged, warnStartedAgain } from '../print-result.ts';
import { reportPreview, retryHint } from '../report-action.ts';
import { warnAfterRetry } from '../warn-dependents.ts';

/** Finds the ids of the jobs. If the only reference is `all` and no job has that id, the error suggests --all. */
async function referencedJobs(app: App, references: string[]): Promise<string[]> {
  try {
    return await selectJobs(app, { references });
  } catch (error) {
    if (!(error instanceof QueueError) || references.join() !== 'all') throw error;
    throw new QueueError(error.code, error.message, 'to retry all dead jobs: queuectl dlq retry --all');
  }
}

export default defineCommand({
  name: 'dlq retry',
  summary: 'Retry dead jobs',
  args: '(ID… | --all)',
  access: 'write',
  flags: { all: { help: 'retry all dead jobs, except those enqueued with --at-most-once' }, ...DRY_RUN_FLAG },
  examples: ['queuectl dlq retry job2', 'queuectl dlq retry --all'],
  notes: [
    "A retried job becomes pending again, and its attempts are counted from 0. 'queuectl show' still lists the earlier attempts.",
    SHORT_IDS_NOTE,
  ],
  async run(context, input) {
    const all = input.has('all');
    if (all === input.args.length > 0) {
      throw usageError(
        all ? 'use job ids or --all, not both' : 'dlq retry requires job ids or --all',
        'to list the dead jobs: queuectl dlq list',
      );
    }
    const app = await context.app();
    const { io } = context;
    const ids = all
      ? await selectJobs(app, { filter: { states: ['dead'] } })
      : await referencedJobs(app, input.args);
    const options: RetryOptions = { states: ['dead'], bulk: all, strict: !all };
    if (input.has('dry-run')) {
      const expected = await previewRetry(app, ids, options);
      const { skippedAtMostOnce: skipped } = expected;
      const hint = skipped.length === 0 ? undefined : retryHint('dlq retry', skipped);
      return reportPreview(context, app, 'retried', expected, hint);
    }
    const retried = await retryJobs(app, ids, options);
    const { changed, withoutKey, skippedAtMostOnce: skipped, why, retriedAtMostOnce } = retried;
    if (changed.length === 0 && withoutKey.length > 0) throw refusal(withoutKey[0]!, why);
    if (changed.length === 0 && skipped.length > 0)
      throw new QueueError(
        'wrong-state',
        `nothing was retried: ${describeSkipped(skipped.length)}`,
        retryHint('dlq retry', skipped),
      );
    printChanged(io, 'retried', changed, atMostOnceFields(retried));
    warnStartedAgain(io, retriedAtMostOnce);
    await warnAfterRetry(io, app, changed);
    if (withoutKey.length > 0) io.warn(`${countOf(withoutKey.length)} ${why}`);
    if (skipped.length > 0) io.warn(describeSkipped(skipped.length));
    return withoutKey.length + skipped.length > 0 ? 7 : 0;
  },
});
