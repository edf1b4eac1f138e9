import type { App } from '../../actions/app.ts';
import { enqueue } from '../../actions/jobs/enqueue.ts';
import { enqueuedJobObjects, lookUpJob } from '../../actions/jobs/jobs.ts';
import { readJobFile } from '../../actions/jobs/parse-jobs.ts';
import { readCircumstances } from '../../actions/jobs/waiting-reasons.ts';
import type { GoneJob, Job } from '../../core/jobs/job.ts';
import type { JobInput } from '../../core/jobs/job-input.ts';
import { compileTemplate } from '../../core/jobs/template.ts';
import { formatBytes, formatPercent } from '../../core/text/numbers.ts';
import { countOf } from '../../core/text/words.ts';
import type { Context, Input } from '../frame/command.ts';
import type { Io } from '../frame/io.ts';
import { createFiller, readResolvedJobFlags, withoutHooksInHook } from '../frame/job-flags.ts';
import { openTextFile } from '../frame/text-file.ts';
import { describeAdded, describeMany } from '../print/job-table.ts';
import { printList } from '../print/print-list.ts';
import { startProgress } from '../print/progress.ts';
import { printable } from '../print/text.ts';
import { printAdded, warnOfSecrets } from './enqueue.ts';

const MAX_SHOWN_WARNINGS = 5;
const BATCH_JOBS = 1000;

/** Enqueues the jobs of a file of any length in one transaction, and returns their ids. Keeps only the ids in memory. */
export async function enqueueFile(
  context: Context,
  input: Input,
  name: string,
  printsJobs: boolean,
): Promise<string[]> {
  const { io } = context;
  const now = Date.now();
  const text = input.one('template');
  const template = text === undefined ? null : compileTemplate(text);
  const flags = await readResolvedJobFlags(context, input, now);
  const progress = startProgress(io);
  const file = openTextFile(name, (bytes) => progress.update(() => `reading ${formatBytes(bytes)}`));
  const warnings = { shown: [] as string[], total: 0 };
  /** The jobs that already existed, by id. The value is true if the job has been removed since. */
  const existing = new Map<string, boolean>();
  const jobs: Iterable<JobInput> = {
    *[Symbol.iterator]() {
      const fill = createFiller(flags);
      Object.assign(warnings, { shown: [], total: 0 });
      existing.clear();
      let count = 0;
      for (const job of readJobFile(file.chunks, template, now)) {
        for (const warning of job.warnings)
          if (++warnings.total <= MAX_SHOWN_WARNINGS) warnings.shown.push(warning);
        yield withoutHooksInHook(fill(job.input), context.environment);
        if (++count % BATCH_JOBS === 0)
          progress.update(
            () => `enqueuing ${countOf(count)}, ${formatPercent(file.bytesRead / Math.max(1, file.size))}`,
          );
      }
    },
  };
  try {
    const first = checkFirstJobs(jobs);
    const ids = await enqueue(
      await context.app(),
      jobs,
      () => context.cwd,
      (job) => {
        if (job.existing) existing.set(job.id, 'gone' in job);
        return job.id;
      },
    );
    progress.end();
    await warnOfSecrets(io, first);
    for (const warning of warnings.shown) io.warn(printable(warning));
    if (warnings.total > MAX_SHOWN_WARNINGS)
      io.warn(`${countOf(warnings.total - MAX_SHOWN_WARNINGS, 'similar warning')} not shown`);
    if (printsJobs) await printAdded(ids, print(context, ids, existing));
    return ids;
  } finally {
    progress.end();
    file.close();
  }
}

async function print({ io, app }: Context, ids: string[], existing: Map<string, boolean>): Promise<void> {
  if (io.json) return printJson(io, await app(), ids, existing);
  if (io.tty && !io.quiet) {
    const isExisting = (id: string): boolean => existing.has(id);
    if (ids.length > 1) return io.out(`${describeMany(ids, ids.every(isExisting))}\n`);
    const opened = await app();
    return io.out(`${describeAdded(await readAdded(opened, ids[0]!, existing), opened.clock.now())}\n`);
  }
  for (let at = 0; at < ids.length; at += BATCH_JOBS)
    io.out(`${ids.slice(at, at + BATCH_JOBS).join('\n')}\n`);
}

/** Prints the jobs as JSON. Reads them back one by one, because all of them together could exceed the memory. */
async function printJson(io: Io, app: App, ids: string[], existing: Map<string, boolean>): Promise<void> {
  const circumstances = await readCircumstances(app);
  const objects = async function* () {
    for (const id of ids)
      yield* await enqueuedJobObjects(app, [await readAdded(app, id, existing)], circumstances);
  };
  await printList(io, { columns: () => [], id: ({ id }) => id }, objects(), app.clock.now());
}

/** Reads an added job back. Returns only its id if it has been removed. `existing` is the map of `enqueueFile`. */
async function readAdded(app: App, id: string, existing: Map<string, boolean>): Promise<Job | GoneJob> {
  const job = existing.get(id) ? null : await lookUpJob(app, id);
  if (job === null) return { id, existing: true, gone: true };
  return existing.has(id) ? { ...job, existing: true } : job;
}

/**
 * Reads the first jobs before anything is stored, so that a short file with a mistake creates no store. Returns those that are checked
 * for secrets, because the jobs of a long file are similar.
 */
function checkFirstJobs(jobs: Iterable<JobInput>): Pick<JobInput, 'env'>[] {
  const first: Pick<JobInput, 'env'>[] = [];
  for (const { env } of jobs) if (first.push(env === undefined ? {} : { env }) === BATCH_JOBS) break;
  return first;
}
