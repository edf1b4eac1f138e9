import { useRef } from 'preact/hooks';
import { get } from '../frame/api.ts';
import { type Data, useData } from '../frame/data.ts';
import { type Steady, useSteady } from '../parts/steady.ts';
import type { Job, JobPage } from '../types.ts';
import { sortJobs } from './columns.tsx';
import { readShown, type ShownPage } from './job-pages.ts';

interface ShownJobs extends Steady<Job> {
  page: Data<ShownPage>;
  /** The cursor of the page after the shown jobs. */
  next: string | null;
}

/** Reads a page of jobs. While its rows are held, they keep their places. */
export function useShownJobs(path: string, sort: string | null, hold: boolean): ShownJobs {
  const shown = useRef<string[]>([]);
  const page = useData<ShownPage>(path, {
    read: (one, signal) => readShown(one, shown.current, (each) => get<JobPage>(each, signal)),
  });
  const { jobs = [], pushed = [], whole = true, next_cursor = null } = page.value ?? {};
  const steady = useSteady('jobs', sortJobs(jobs, sort), ({ id }) => id, {
    list: `${path} ${sort}`,
    hold,
    also: pushed,
  });
  const next = useRef(next_cursor);
  const isHeld = steady.before.size > 0;
  if (!isHeld) next.current = next_cursor;
  shown.current = isHeld ? steady.rows.map(({ id }) => id) : [];
  if (!isHeld) return { ...steady, page, next: next_cursor };

  // Pages are ordered by age. Behind the last job that was read, a missing job may still be in the list.
  const lastRead = [...jobs, ...pushed].at(-1)?.created_at ?? '';
  const isGone = (job: Job): boolean => steady.gone.has(job.id) && (whole || job.created_at > lastRead);
  // If a job leaves the list, an older one moves up from the next page. It is not new.
  const oldest = [...steady.before.values()].map((job) => job.created_at).sort()[0]!;
  return {
    ...steady,
    page,
    next: next.current,
    gone: new Set(steady.rows.filter(isGone).map(({ id }) => id)),
    fresh: steady.fresh.filter((job) => next.current === null || job.created_at > oldest),
  };
}
