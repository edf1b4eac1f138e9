import type { App } from '../actions/app.ts';
import { countMatching, jobObject, listJobs } from '../actions/jobs.ts';
import type { JobFilter } from '../core/filter.ts';
import { formatCount } from '../core/numbers.ts';
import type { JobWithReason } from '../core/waiting-reason.ts';
import type { Context } from './command.ts';
import type { Io } from './io.ts';
import { type Listing, printList } from './print-list.ts';
import { type Column, isAligned } from './table.ts';
import { type TimeFormat, timesFor } from './times.ts';

/** A terminal gets this many rows by default. A pipe and --json always get all matches. */
const SCREENFUL = 50;
/** Matches are counted up to this number, so that nobody has to wait. */
const COUNTED = 10_000;

export function jobListing(
  io: Io,
  app: App,
  columns: (times: TimeFormat) => Column<JobWithReason>[],
): Listing<JobWithReason> {
  const times = timesFor(io, app.clock.now());
  return { columns: columns(times), times, id: (job) => job.id, object: (job) => jobObject(app, job) };
}

export async function printJobs(
  context: Pick<Context, 'io' | 'app'>,
  filter: JobFilter,
  limit: number | null,
  columns: (times: TimeFormat) => Column<JobWithReason>[],
  empty: string,
): Promise<void> {
  const { io } = context;
  const app = await context.app();
  const most = limit ?? (io.tty && isAligned(io) && !io.json ? SCREENFUL : null);
  const shown = await printList(io, jobListing(io, app, columns), listJobs(app, filter, most));
  if (shown === 0) io.note(empty);
  if (!io.tty || io.quiet || io.json || shown !== most) return;
  const total = await countMatching(app, filter, COUNTED + 1);
  if (shown < total)
    io.note(
      `showing ${formatCount(shown)} of ${formatCount(Math.min(total, COUNTED))}${total > COUNTED ? '+' : ''} jobs; use --limit N to see more`,
    );
}
