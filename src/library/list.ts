import { jobObject, listJobs } from '../actions/jobs.ts';
import { readJobFilter } from '../core/filter.ts';
import type { JobObject } from '../core/job-object.ts';
import { readTextMap } from '../core/read-value.ts';
import type { OpenQueue } from './open-queue.ts';
import { count, nonBlankText, readOptions, texts } from './options.ts';
import type { ListOptions } from './types.ts';

/** Accepts a number or a text, and returns a text. */
const numberOrText = (value: unknown, name: string): string =>
  typeof value === 'number' ? String(value) : nonBlankText(value, name);

const READERS = {
  state: texts,
  waiting_for: texts,
  queue: nonBlankText,
  name: nonBlankText,
  tags: readTextMap,
  older_than: numberOrText,
  error: nonBlankText,
  exit_code: numberOrText,
  where: nonBlankText,
  search: nonBlankText,
  limit: count,
} satisfies Record<keyof ListOptions, unknown>;

/** Lists matching jobs. The filter is checked as on the command line, so that a misspelt state does not match all jobs. */
export async function list(queue: OpenQueue, options: ListOptions | undefined): Promise<JobObject[]> {
  const app = queue.app();
  const {
    limit = null,
    tags,
    state = [],
    waiting_for = [],
    ...filterTexts
  } = readOptions(options, 'list()', READERS);
  const optionName = (field: string): string => field.replaceAll('-', '_');
  const filter = readJobFilter(
    {
      one: (field) => filterTexts[optionName(field) as keyof typeof filterTexts],
      all: (field) => (field === 'state' ? state : field === 'waiting-for' ? waiting_for : []),
      nameOf: optionName,
    },
    app.clock.now(),
  );
  if (tags !== undefined) filter.tags = tags;
  const jobs: JobObject[] = [];
  for await (const job of listJobs(app, filter, limit)) jobs.push(await jobObject(app, job));
  return jobs;
}
