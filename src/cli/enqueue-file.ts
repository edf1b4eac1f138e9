import type { App } from '../actions/app.ts';
import { enqueue } from '../actions/enqueue.ts';
import { enqueuedJobObjects, lookUpJob } from '../actions/jobs.ts';
import { readJobFile } from '../actions/read-job-file.ts';
import { readCircumstances } from '../actions/waiting-reasons.ts';
import type { GoneJob, Job } from '../core/job.ts';
import type { JobInput } from '../core/job-input.ts';
import { formatBytes, formatPercent } from '../core/numbers.ts';
import { secretWarnings } from '../core/secrets.ts';
import { compileTemplate } from '../core/template.ts';
import { countOf } from '../core/words.ts';
import type { Context, Input } from './command.ts';
import { describeAdded, describeMany, printAdded } from './describe-added.ts';
import type { Io } from './io.ts';
import { openText, type TextFile } from './job-file.ts';
import { filler, readJobFlags, withoutHooksInHook, withParents } from './job-flags.ts';
import { jsonText } from './layout.ts';
import { startProgress } from './progress.ts';
import { printable } from './text.ts';

/** This many bytes are checked before the store is opened, so that a short file with a mistake changes nothing. */
const CHECKED_BYTES = 256 * 1024;
const CHUNK = 256 * 1024;
const SHOWN_WARNINGS = 5;
const BATCH = 1000;

/** Enqueues a file of any length in one transaction. Only the ids are kept in memory. */
export async function enqueueFile(
  context: Context,
  input: Input,
  name: string,
  shows: boolean,
): Promise<string[]> {
  const { io } = context;
  const cwd = (): string => context.cwd;
  const now = Date.now();
  const text = input.one('template');
  const template = text === undefined ? null : compileTemplate(text);
  const flags = await withParents(
    context,
    readJobFlags(input, { environment: context.environment, cwd }, now),
  );
  const progress = startProgress(io);
  const file = openText(name, (bytes) => progress.update(() => `reading ${formatBytes(bytes)}`));
  const warnings = { shown: [] as string[], total: 0 };
  /** Maps the ids of jobs that already existed to whether they have been removed since. */
  const existing = new Map<string, boolean>();
  const jobs: Iterable<JobInput> = {
    *[Symbol.iterator]() {
      const fill = filler(flags);
      Object.assign(warnings, { shown: [], total: 0 });
      existing.clear();
      let count = 0;
      for (const job of readJobFile(file.chunks, template, now)) {
        for (const warning of job.warnings) {
          if (++warnings.total <= SHOWN_WARNINGS) warnings.shown.push(warning);
        }
        yield withoutHooksInHook(fill(job.input), context.environment);
        if (++count % BATCH === 0)
          progress.update(
            () => `enqueuing ${countOf(count)}, ${formatPercent(file.at / Math.max(1, file.size))}`,
          );
      }
    },
  };
  try {
    const secrets = checkHead(file, jobs);
    const ids = await enqueue(await context.app(), jobs, cwd, (job) => {
      if (job.existing) existing.set(job.id, 'gone' in job);
      return job.id;
    });
    progress.end();
    for (const warning of [...secrets, ...warnings.shown]) io.warn(printable(warning));
    if (warnings.total > SHOWN_WARNINGS)
      io.warn(`${countOf(warnings.total - SHOWN_WARNINGS, 'similar warning')} not shown`);
    if (shows) await printAdded(ids, () => print(context, ids, existing, now));
    return ids;
  } finally {
    progress.end();
    file.close();
  }
}

async function print(
  { io, app }: Context,
  ids: string[],
  existing: Map<string, boolean>,
  now: number,
): Promise<void> {
  if (io.json) return printJson(io, await app(), ids, existing);
  if (io.tty && !io.quiet) {
    const isExisting = (id: string): boolean => existing.has(id);
    if (ids.length > 1) return io.out(`${describeMany(ids, ids.every(isExisting))}\n`);
    return io.out(`${describeAdded(await added(await app(), ids[0]!, existing), now)}\n`);
  }
  for (let at = 0; at < ids.length; at += BATCH) io.out(`${ids.slice(at, at + BATCH).join('\n')}\n`);
}

/** Prints the jobs as JSON. It reads them back one by one, because all of them together could exceed the memory. */
async function printJson(io: Io, app: App, ids: string[], existing: Map<string, boolean>): Promise<void> {
  let text = '[';
  const circumstances = await readCircumstances(app);
  for (const [i, id] of ids.entries()) {
    const [job] = await enqueuedJobObjects(app, [await added(app, id, existing)], circumstances);
    text += `${i === 0 ? '' : ','}${jsonText(io, job!)}`;
    if (text.length > CHUNK) {
      io.out(text);
      text = '';
    }
  }
  io.out(`${text}]\n`);
}

async function added(app: App, id: string, existing: Map<string, boolean>): Promise<Job | GoneJob> {
  const job = existing.get(id) ? null : await lookUpJob(app, id);
  if (job === null) return { id, existing: true, gone: true };
  return existing.has(id) ? { ...job, existing: true } : job;
}

/**
 * Reads the first jobs before anything is stored. Returns the warnings about secrets in them. Later jobs are not
 * checked for secrets, because the jobs of a long file are similar.
 */
function checkHead(file: TextFile, jobs: Iterable<JobInput>): string[] {
  let secrets: string[] = [];
  let count = 0;
  for (const job of jobs) {
    if (count++ < BATCH && secrets.length === 0) secrets = secretWarnings(job);
    if (file.at > CHECKED_BYTES) break;
  }
  return secrets;
}
