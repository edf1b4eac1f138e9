import { part } from '../api.ts';
import { useData } from '../data.ts';
import { visible } from '../format.ts';
import type { Job, JobPage } from '../types.ts';
import { Empty } from './empty.tsx';
import { JobTable } from './job-table.tsx';

/** What it waits for, and others of its name. */
export function Related({ job }: { job: Job }) {
  const same = useData<JobPage>(job.name === null ? null : `/jobs?name=${part(job.name)}&limit=20`);
  const others = (same.value?.jobs ?? []).filter(({ id }) => id !== job.id);
  const parents = job.depends_on.map((one) => (typeof one === 'string' ? { id: one, on: 'ok' } : one));
  if (others.length === 0 && parents.length === 0)
    return (
      <Empty
        text="No other job has its name, and it waits for none."
        cli="queuectl enqueue 'echo hello' --name hello"
      />
    );
  return (
    <>
      {parents.length === 0 ? null : (
        <p class="facts">
          <span>runs after</span>
          {parents.map(({ id, on }) => (
            <span key={id}>
              <a href={`/jobs/${part(id)}`}>{id}</a> ({on})
            </span>
          ))}
        </p>
      )}
      {others.length === 0 ? null : (
        <>
          <h2>Others called {visible(job.name ?? '')}</h2>
          <JobTable jobs={others} />
        </>
      )}
    </>
  );
}
