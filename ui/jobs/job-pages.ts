import type { Job, JobPage } from '../types.ts';

/** A request reads for a limited time and may return an empty page before the end. At most this many are sent. */
const MOST_LOOKS = 5;

export async function readUntilJobs(
  path: string,
  read: (path: string) => Promise<JobPage>,
  looks = MOST_LOOKS,
): Promise<JobPage> {
  const page = await read(path);
  if (page.jobs.length > 0 || page.next_cursor === null || looks === 1) return page;
  const [at, query] = path.split('?');
  const next = new URLSearchParams(query);
  next.set('cursor', page.next_cursor);
  return readUntilJobs(`${at}?${next}`, read, looks - 1);
}

/** A page of jobs, and the jobs that were on it and are still shown. */
export interface ShownPage extends JobPage {
  /** The jobs that follow the page, as far as they were needed to find those that new jobs have pushed off it. */
  pushed: Job[];
  /** True if no job follows the pushed ones. */
  whole: boolean;
}

/** If more jobs than a page were added, the shown jobs are searched among this many further ones. */
const MOST_BETWEEN = 200;

/** Reads a page, and the jobs in `shown` that new jobs have pushed off it. */
export async function readShown(
  path: string,
  shown: string[],
  read: (path: string) => Promise<JobPage>,
): Promise<ShownPage> {
  const page = await readUntilJobs(path, read);
  const listed = new Set(page.jobs.map(({ id }) => id));
  const missing = shown.filter((id) => !listed.has(id)).length;
  if (missing === 0 || page.next_cursor === null)
    return { ...page, pushed: [], whole: page.next_cursor === null };
  const [at, query] = path.split('?');
  const further = new URLSearchParams(query);
  further.set('cursor', page.next_cursor);
  further.set('limit', String(missing < shown.length ? missing : missing + MOST_BETWEEN));
  const next = await read(`${at}?${further}`);
  return { ...page, pushed: next.jobs, whole: next.next_cursor === null };
}
