import type { App } from '../actions/app.ts';
import { countMatching, jobObject, listJobs } from '../actions/jobs.ts';
import type { JobFilter } from '../core/filter.ts';
import { formatCount } from '../core/numbers.ts';
import type { JobWithReason } from '../core/waiting-reason.ts';
import type { Context } from './command.ts';
import { type Listing, printList } from './print-list.ts';
import { isAligned } from './table.ts';

/** Without --limit, a table on a terminal has at most this many rows. Any other output has all matches. */
const DEFAULT_ROWS = 50;
/** Matches are counted only up to this number, because counting all of them could take long. */
const MAX_COUNTED = 10_000;

export function jobListing(app: App, columns: Listing<JobWithReason>['columns']): Listing<JobWithReason> {
  return { columns, id: (job) => job.id, object: (job) => jobObject(app, job) };
}

export async function printJobs(
  context: Pick<Context, 'io' | 'app'>,
  filter: JobFilter,
  limit: number | null,
  columns: Listing<JobWithReason>['columns'],
  emptyNote: string,
): Promise<void> {
  const { io } = context;
  const app = await context.app();
  const maxRows = limit ?? (io.tty && isAligned(io) && !io.json ? DEFAULT_ROWS : null);
  const jobs = listJobs(app, filter, maxRows);
  const shown = await printList(io, jobListing(app, columns), jobs, app.clock.now());
  if (shown === 0) io.note(emptyNote);
  if (!io.tty || io.quiet || io.json || shown !== maxRows) return;
  const total = await countMatching(app, filter, MAX_COUNTED + 1);
  if (shown < total)
    io.note(
      `showing ${formatCount(shown)} of ${formatCount(Math.min(total, MAX_COUNTED))}${total > MAX_COUNTED ? '+' : ''} jobs; use --limit N to see more`,
    );
}
