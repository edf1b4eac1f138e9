import { listJobs, lookUpJob } from '../../actions/jobs.ts';
import { withReason } from '../../actions/waiting-reasons.ts';
import type { JobFilter } from '../../core/filter.ts';
import type { JobWithReason } from '../../core/waiting-reason.ts';
import { type Context, defineCommand } from '../command.ts';
import { FILTER_FLAGS, LIMIT_FLAG, readFilter, readLimit } from '../filters.ts';
import type { Io } from '../io.ts';
import { jobColumns } from '../job-table.ts';
import { listFlags } from '../layout-flags.ts';
import { jobListing, printJobs } from '../list-jobs.ts';
import { lineFormatter } from '../print-list.ts';
import { readWatch, WATCH_FLAG, type WatchedItem, type WatchedView, watch } from '../watch.ts';

/** In a pipe, `--watch` follows this many of the newest jobs by default. */
const WATCHED_JOBS = 1000;
/** The number of lines on a screen that are not jobs: the titles and the note about the number of jobs. */
const OTHER_LINES = 2;

export default defineCommand({
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
    const filter = readFilter({ ...input, all }, Date.now());
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
