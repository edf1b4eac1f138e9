import type { App } from '../../actions/app.ts';
import { describeSkipped } from '../../actions/jobs/act.ts';
import { JOB_ACTIONS } from '../../actions/jobs/job-actions.ts';
import { countJobs, getJob, selectJobs } from '../../actions/jobs/jobs.ts';
import {
  type JobRetryOptions,
  previewRetry,
  retryJobs,
  unchangedJobError,
  wrongStateError,
} from '../../actions/jobs/retry.ts';
import { QueueError, usageError } from '../../core/errors.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { countOf } from '../../core/text/words.ts';
import { defineCommand } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { askToConfirm, DRY_RUN_FLAG, SHORT_IDS_NOTE } from '../frame/job-action-command.ts';
import {
  deadColumns,
  FILTER_FLAGS,
  LIMIT_FLAG,
  printJobs,
  readFilter,
  readLimit,
} from '../print/job-table.ts';
import { printJson } from '../print/layout.ts';
import { listFlags, TIME_FLAGS } from '../print/print-list.ts';
import {
  atMostOnceFields,
  reportPreview,
  retryHint,
  warnAfterRetry,
  warnStartedAgain,
} from '../print/report-action.ts';
import { showJob } from '../print/show-job.ts';

const { state: _, 'waiting-for': __, ...FLAGS } = FILTER_FLAGS;

const list = defineCommand({
  name: 'dlq list',
  summary: 'List dead jobs, newest first',
  flags: { ...FLAGS, limit: LIMIT_FLAG, ...listFlags('{id}\\t{exit_code}') },
  prints: { object: 'Job' },
  examples: ['queuectl dlq list', 'queuectl dlq list --json', 'queuectl dlq list --format csv --header'],
  usageHint: ([first = '']) =>
    first.startsWith('-') ? undefined : `to show a dead job: queuectl dlq show ${shellWord(first)}`,
  async run(context, input) {
    const filter = { ...readFilter(input), states: ['dead' as const] };
    await printJobs(context, filter, readLimit(input), deadColumns, 'the dead letter queue is empty');
  },
});

const show = defineCommand({
  name: 'dlq show',
  summary: 'Show a dead job and all its attempts',
  args: 'ID',
  flags: TIME_FLAGS,
  prints: { object: 'Job', fields: ['history', 'children'] },
  examples: ['queuectl dlq show job1', 'queuectl dlq show @last'],
  notes: [SHORT_IDS_NOTE],
  async run(context, input) {
    const hint = 'to list the dead jobs: queuectl dlq list';
    return showJob(context, input.required(0, 'the job id', hint), 'dead');
  },
});

/** Finds the ids of the jobs. If the only reference is `all` and no job has that id, the error suggests --all. */
async function referencedJobs(app: App, references: string[]): Promise<string[]> {
  try {
    return await selectJobs(app, { references });
  } catch (error) {
    if (!(error instanceof QueueError) || references.join() !== 'all') throw error;
    throw new QueueError(error.code, error.message, 'to retry all dead jobs: queuectl dlq retry --all');
  }
}

const retry = defineCommand({
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
    const options: JobRetryOptions = { states: ['dead'], bulk: all, strict: !all };
    if (input.has('dry-run')) {
      const expected = await previewRetry(app, ids, options);
      const { skippedAtMostOnce: skipped } = expected;
      const hint = skipped.length === 0 ? undefined : retryHint('dlq retry', skipped);
      return reportPreview(context, app, 'retried', expected, hint);
    }
    const retried = await retryJobs(app, ids, options);
    const { changed, withoutKey, skippedAtMostOnce: skipped, why, retriedAtMostOnce } = retried;
    if (changed.length === 0 && withoutKey.length > 0) throw unchangedJobError(withoutKey[0]!, why);
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

const purge = defineCommand({
  name: 'dlq purge',
  summary: 'Delete dead jobs and their output permanently',
  args: '[ID… | --all]',
  access: 'write',
  flags: {
    all: { help: 'delete all dead jobs; the default without ids' },
    yes: { short: 'y', help: 'do not ask for confirmation' },
    ...DRY_RUN_FLAG,
  },
  examples: ['queuectl dlq purge job2', 'queuectl dlq purge --yes'],
  notes: ['Without ids, the command deletes all dead jobs.', SHORT_IDS_NOTE],
  async run(context, input) {
    if (input.has('all') && input.args.length > 0) throw usageError('use job ids or --all, not both');
    const app = await context.app();
    const dryRun = input.has('dry-run');
    const given = input.args.length === 0 ? null : await selectJobs(app, { references: input.args });
    for (const id of given ?? []) {
      const { state } = await getJob(app, id);
      if (state !== 'dead') throw wrongStateError(id, state, ['dead']);
    }
    if (given === null && !dryRun && !input.has('yes')) {
      const total = await countJobs(app, { states: ['dead'] });
      const question = `permanently delete ${countOf(total, 'dead job')}?`;
      if (total > 0 && !askToConfirm(context, question, 'add --yes to confirm')) return 1;
    }
    const ids = given ?? (await selectJobs(app, { filter: { states: ['dead'] } }));
    const { act, preview } = JOB_ACTIONS.delete;
    if (dryRun) return reportPreview(context, app, 'purged', await preview(app, ids));
    printChanged(context.io, 'purged', (await act(app, ids, { states: ['dead'] })).changed);
    return 0;
  },
});

/** Prints the jobs that changed: a sentence on a terminal, else their ids. JSON has `moreFields` beside the ids. */
function printChanged(io: Io, participle: string, ids: string[], moreFields: object = {}): void {
  if (io.json) printJson(io, { [participle]: ids, ...moreFields });
  else if (!io.tty || io.quiet) io.out(ids.map((id) => `${id}\n`).join(''));
  else io.out(`${participle} ${countOf(ids.length)}${ids.length === 1 ? `: ${ids[0]}` : ''}\n`);
}

export default { list, show, retry, purge };
