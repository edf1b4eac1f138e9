import type { JobPage } from './types.ts';

/** A request looks at jobs for a moment only, and may come back without any before all were seen: then it goes on. */
const MOST_LOOKS = 5;

export async function untilSome(
  path: string,
  read: (path: string) => Promise<JobPage>,
  looks = MOST_LOOKS,
): Promise<JobPage> {
  const page = await read(path);
  if (page.jobs.length > 0 || page.next_cursor === null || looks === 1) return page;
  const [at, query] = path.split('?');
  const next = new URLSearchParams(query);
  next.set('cursor', page.next_cursor);
  return untilSome(`${at}?${next}`, read, looks - 1);
}
