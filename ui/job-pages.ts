import type { JobPage } from './types.ts';

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
