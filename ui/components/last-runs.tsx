import { part } from '../api.ts';
import { useData } from '../data.ts';
import { duration } from '../format.ts';
import type { JobPage, State } from '../types.ts';
import { Icon } from './icon.tsx';

/** The last jobs of a schedule as cells, the newest on the right. Its jobs have its name. */
export function LastRuns({ name }: { name: string }) {
  const page = useData<JobPage>(`/jobs?name=${part(name)}&limit=20`);
  const jobs = (page.value?.jobs ?? []).toReversed();
  if (jobs.length === 0) return null;
  return (
    <ul class="cells" aria-label="Last runs">
      {jobs.map((job) => (
        <li key={job.id}>
          <a
            class={`state-${job.state}`}
            href={`/jobs/${part(job.id)}`}
            title={`${job.state} · ${job.created_at} · ${duration(job.duration_ms)}`}
          >
            <Icon name={job.state as State} />
            <span class="hidden">
              {job.id} {job.state}
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
