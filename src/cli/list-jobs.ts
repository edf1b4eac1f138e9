import type { App } from '../actions/app.ts';
import { countMatching, jobObject, listJobs } from '../actions/jobs.ts';
import type { JobFilter } from '../core/filter.ts';
import { formatCount } from '../core/numbers.ts';
import type { JobWithReason } from '../core/waiting-reason.ts';
import type { Context } from './command.ts';
import { type Listing, printList } from './print-list.ts';
import { isAligned } from './table.ts';

/** A terminal gets this many rows by default. A pipe and --json always get all matches. */
const SCREENFUL = 50;
/** Matches are counted up to this number, so that nobody has to wait. */
const COUNTED = 10_000;

export function jobListing(app: App, columns: Listing<JobWithReason>['columns']): Listing<JobWithReason> {
  return { columns, id: (job) => job.id, object: (job) => jobObject(app, job) };
}

export async function printJobs(
  context: Pick<Context, 'io' | 'app'>,
  filter: JobFilter,
  limit: number | null,
  columns: Listing<JobWithReason>['columns'],
  empty: string,
): Promise<void> {
  const { io } = context;
  const app = await context.app();
  const most = limit ?? (io.tty && isAligned(io) && !io.json ? SCREENFUL : null);
  const jobs = listJobs(app, filter, most);
  const shown = await printList(io, jobListing(app, columns), jobs, app.clock.now());
  if (shown === 0) io.note(empty);
  if (!io.tty || io.quiet || io.json || shown !== most) return;
  const total = await countMatching(app, filter, COUNTED + 1);
  if (shown < total)
    io.note(
      `showing ${formatCount(shown)} of ${formatCount(Math.min(total, COUNTED))}${total > COUNTED ? '+' : ''} jobs; use --limit N to see more`,
    );
}
