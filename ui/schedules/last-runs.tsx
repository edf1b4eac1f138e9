import { part } from '../frame/api.ts';
import { useData } from '../frame/data.ts';
import { duration } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { ShowNew } from '../parts/show-new.tsx';
import { useSteady } from '../parts/steady.ts';
import type { JobPage, State } from '../types.ts';
import { SCHEDULE } from '../words/schedules.ts';
import { SHARED } from '../words/shared.ts';

/** Shows the last jobs of a schedule as cells, the newest on the right. They are found by the name of its jobs. */
export function LastRuns({ name }: { name: string }) {
  const page = useData<JobPage>(`/jobs?name=${part(name)}&limit=20`);
  const list = useSteady(`runs of ${name}`, (page.value?.jobs ?? []).toReversed(), ({ id }) => id, {
    list: name,
  });
  const jobs = list.rows;
  if (jobs.length === 0) return null;
  return (
    <ul class="cells" {...list.box} aria-label={SCHEDULE.lastRuns}>
      {jobs.map((job) => (
        <li key={job.id}>
          <a
            class={`state-${job.state}`}
            href={`/jobs/${part(job.id)}`}
            title={`${SHARED.states[job.state]} · ${job.created_at} · ${duration(job.duration_ms)}`}
          >
            <Icon name={job.state as State} />
            <span class="hidden">
              {job.id} {SHARED.states[job.state]}
            </span>
          </a>
        </li>
      ))}
      {list.fresh.length === 0 ? null : (
        <li>
          <ShowNew of={list} noun="run" />
        </li>
      )}
    </ul>
  );
}
