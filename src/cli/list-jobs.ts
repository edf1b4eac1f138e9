import type { App } from '../actions/app.ts';
import { countMatching, jobObject, listJobs } from '../actions/jobs.ts';
import type { JobFilter } from '../core/filter.ts';
import type { Job } from '../core/job.ts';
import type { Context } from './command.ts';
import { type Column, printTable } from './table.ts';

/** A person gets so many rows unasked; a script and --json always get every match. */
const SCREENFUL = 50;
const BATCH = 500;
/** Nobody waits for more to be counted. */
const COUNTED = 10_000;
const CHUNK = 256 * 1024;

export async function printJobs(
  context: Pick<Context, 'io' | 'app'>,
  filter: JobFilter,
  limit: number | null,
  columns: (now: number) => Column<Job>[],
  empty: string,
): Promise<void> {
  const { io } = context;
  const app = await context.app();
  const most = limit ?? (io.tty && !io.json ? SCREENFUL : null);
  const jobs = listJobs(app, filter, most);
  if (io.json) return printJson(context, app, jobs);
  const table = columns(app.clock.now());
  let shown = 0;
  for await (const rows of batches(jobs)) {
    if (io.quiet) io.out(rows.map((job) => `${job.id}\n`).join(''));
    else printTable(io, table, rows);
    shown += rows.length;
  }
  if (shown === 0) io.note(empty);
  if (!io.tty || io.quiet || shown !== most) return;
  const total = await countMatching(app, filter, COUNTED + 1);
  if (shown < total)
    io.note(`showing ${shown} of ${total > COUNTED ? `${COUNTED}+` : total}; use --limit N for more`);
}

/** One array, written as it is read: five million jobs need no more memory than five. */
async function printJson({ io }: Pick<Context, 'io'>, app: App, jobs: AsyncGenerator<Job>): Promise<void> {
  let text = '[';
  let separator = '';
  for await (const job of jobs) {
    text += separator + JSON.stringify(await jobObject(app, job));
    separator = ',';
    if (text.length < CHUNK) continue;
    io.out(text);
    text = '';
  }
  io.out(`${text}]\n`);
}

async function* batches<T>(items: AsyncGenerator<T>): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
  }
  if (batch.length > 0) yield batch;
}
