import { explain } from '../../actions/jobs/explain.ts';
import { findJobId, getJob, jobObject, listJobs, lookUpJob, selectJobs } from '../../actions/jobs/jobs.ts';
import { withReason } from '../../actions/jobs/waiting-reasons.ts';
import type { JobFilter } from '../../core/jobs/filter.ts';
import type { Job } from '../../core/jobs/job.ts';
import type { JobWithReason } from '../../core/jobs/waiting-reason.ts';
import { type Context, defineCommand } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { selectionOf } from '../frame/job-action-command.ts';
import { durationFlag } from '../frame/read-flags.ts';
import { readWatch, WATCH_FLAG, type WatchedItem, type WatchedView, watch } from '../frame/watch.ts';
import { describeJobEnd, waitForJobs } from '../print/follow-job.ts';
import {
  FILTER_FLAGS,
  jobColumns,
  jobListing,
  LIMIT_FLAG,
  printJobs,
  readFilter,
  readLimit,
} from '../print/job-table.ts';
import { jsonText, printJson } from '../print/layout.ts';
import { lineFormatter, listFlags, TIME_FLAGS } from '../print/print-list.ts';
import { showJob } from '../print/show-job.ts';
import { printable } from '../print/text.ts';

/** In a pipe, `--watch` follows this many of the newest jobs by default. */
const WATCHED_JOBS = 1000;
/** The number of lines on a screen that are not jobs: the titles and the note about the number of jobs. */
const OTHER_LINES = 2;

const list = defineCommand({
  name: 'list',
  summary: 'List jobs, newest first',
  args: '[STATE…]',
  flags: { ...FILTER_FLAGS, limit: LIMIT_FLAG, watch: WATCH_FLAG, ...listFlags('{id}\\t{state}') },
  prints: { object: 'Job' },
  examples: [
    'queuectl list',
    'queuectl list dead',
    'queuectl list --state failed,dead --queue mail',
    'queuectl list --waiting-for no_worker,queue_paused',
    'queuectl list --state running --watch=1s',
    'queuectl list --state completed --json=id,exit_code,duration_ms',
    "queuectl list --state dead --format '{id}\\t{exit_code}'",
  ],
  async run(context, input) {
    const states = (field: string): string[] => (field === 'state' ? input.args : []);
    const all = (field: string): string[] => [...input.all(field), ...states(field)];
    const filter = readFilter({ ...input, all });
    const limit = readLimit(input);
    const everyMs = readWatch(input);
    if (everyMs !== null) return watch(context, everyMs, watchedJobs(context, filter, limit));
    await printJobs(context, filter, limit, jobColumns, 'no jobs found');
    return 0;
  },
});

function watchedJobs(context: Context, filter: JobFilter, limit: number | null): WatchedView {
  return {
    draw(io, lines) {
      const rows = Math.max(1, Math.min(limit ?? lines, lines - OTHER_LINES));
      return printJobs({ io, app: context.app }, filter, rows, jobColumns, 'no jobs found');
    },
    async items(io) {
      const items: WatchedItem[] = [];
      for await (const job of listJobs(await context.app(), filter, limit ?? WATCHED_JOBS))
        items.push({
          key: job.id,
          text: await jobLine(context, io, job),
          // A new reason alone is not a change, because it changes all the time in a queue with a rate limit.
          compared: await jobLine(context, io, { ...job, waitingFor: null }),
        });
      // The newest line comes last, as in a log.
      return items.reverse();
    },
    async gone(id, io) {
      const job = await lookUpJob(await context.app(), id);
      if (job !== null) return jobLine(context, io, await withReason(await context.app(), job));
      return io.json ? JSON.stringify({ id, deleted: true }) : `${id}\tdeleted`;
    },
  };
}

async function jobLine(context: Context, io: Io, job: JobWithReason): Promise<string> {
  const app = await context.app();
  return lineFormatter(io, jobListing(app, jobColumns), app.clock.now())(job);
}

const show = defineCommand({
  name: 'show',
  summary: 'Show a job and all its attempts',
  args: 'ID',
  flags: TIME_FLAGS,
  prints: { object: 'Job', fields: ['history', 'children'] },
  examples: ['queuectl show job1', 'queuectl show job1 --json', 'queuectl show job1 --json=state,exit_code'],
  async run(context, input) {
    return showJob(context, input.required(0, 'the job id', 'to list the jobs: queuectl list'));
  },
});

const wait = defineCommand({
  name: 'wait',
  summary: 'Wait for jobs to finish',
  args: '(ID… | FILTERS)',
  flags: {
    ...FILTER_FLAGS,
    any: { help: 'exit as soon as one of the jobs finishes' },
    timeout: { value: 'TIME', help: 'stop waiting after this time (the jobs continue)' },
  },
  prints: { object: 'Job' },
  examples: [
    'queuectl wait job1',
    "queuectl wait job1 job2 --timeout 10m && echo 'both completed'",
    'queuectl wait --any job1 job2',
    'queuectl wait --queue mail --state pending,running',
  ],
  notes: [
    'A job is finished when it is completed, dead or cancelled. Filters select the jobs that match when the command starts.',
    'queuectl exits with 0 if all jobs completed. Otherwise it exits with the exit code of the first job that did not complete. It exits with 128+n if signal n killed that job, 130 if it was cancelled, 124 if the wait timed out, and 125 if queuectl itself failed.',
    'Ctrl-C stops queuectl but not the jobs.',
  ],
  returnsJobExitCode: () => true,
  async run(context, input) {
    const { io } = context;
    const timeoutMs = durationFlag(input, 'timeout');
    const app = await context.app({ isBrief: false });
    const ids = await selectJobs(app, selectionOf('wait', {}, input));
    const jobs = await Promise.all(ids.map((id) => getJob(app, id)));
    if (jobs.length === 0) io.warn('no jobs found, so there is nothing to wait for');
    const onEnd = (job: Job): void => {
      if (io.json || io.quiet) return;
      if (io.tty) io.out(`${describeJobEnd(job)}\n`);
      else io.out(`${job.id}\t${job.state}\t${job.exitCode ?? '-'}\n`);
    };
    return waitForJobs(context, jobs, { timeoutMs, any: input.has('any'), onEnd }, async (ended) => {
      if (!io.json) return;
      const objects = await Promise.all(ended.map((job) => jobObject(app, job)));
      io.out(`[${objects.map((object) => jsonText(io, object)).join(',')}]\n`);
    });
  },
});

const explainCommand = defineCommand({
  name: 'explain',
  summary: 'Explain why a job is not running',
  args: 'ID',
  prints: { object: 'Explanation' },
  examples: ['queuectl explain job1', 'queuectl explain @last'],
  async run({ io, app }, input) {
    const reference = input.required(0, 'the job id', 'to list the jobs: queuectl list');
    const opened = await app();
    const result = await explain(opened, await findJobId(opened, reference));
    if (io.json) printJson(io, result);
    else io.out(`${result.reasons.map(printable).join('\n')}\n`);
  },
});

export default { list, show, wait, explain: explainCommand };
