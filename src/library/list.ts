import { jobObject, listJobs } from '../actions/jobs.ts';
import { readJobFilter } from '../core/filter.ts';
import type { JobObject } from '../core/job-object.ts';
import { readTextMap } from '../core/read-value.ts';
import type { OpenQueue } from './open-queue.ts';
import { count, filledText, readOptions, texts } from './options.ts';
import type { ListOptions } from './types.ts';

const plain = (value: unknown, name: string): string =>
  typeof value === 'number' ? String(value) : filledText(value, name);

const OPTIONS = {
  state: texts,
  waiting_for: texts,
  queue: filledText,
  name: filledText,
  tags: readTextMap,
  older_than: plain,
  error: filledText,
  exit_code: plain,
  where: filledText,
  search: filledText,
  limit: count,
} satisfies Record<keyof ListOptions, unknown>;

/** Reads the filter with the checks of the command line, so that a misspelt state does not match all jobs. */
export async function list(queue: OpenQueue, wanted: ListOptions | undefined): Promise<JobObject[]> {
  const app = queue.app();
  const {
    limit = null,
    tags,
    state = [],
    waiting_for = [],
    ...texts
  } = readOptions(wanted, 'list()', OPTIONS);
  const named = (field: string): string => field.replaceAll('-', '_');
  const filter = readJobFilter(
    {
      one: (field) => texts[named(field) as keyof typeof texts],
      all: (field) => (field === 'state' ? state : field === 'waiting-for' ? waiting_for : []),
      called: named,
    },
    app.clock.now(),
  );
  if (tags !== undefined) filter.tags = tags;
  const jobs: JobObject[] = [];
  for await (const job of listJobs(app, filter, limit)) jobs.push(await jobObject(app, job));
  return jobs;
}
