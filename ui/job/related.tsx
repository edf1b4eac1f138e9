import { part } from '../frame/api.ts';
import { useData } from '../frame/data.ts';
import { MOST_CHILDREN } from '../jobs/acts.ts';
import { JobTable } from '../jobs/job-table.tsx';
import { Empty } from '../parts/empty.tsx';
import { Fill } from '../parts/fill.tsx';
import { number, visible } from '../parts/format.ts';
import { ShowNew } from '../parts/show-new.tsx';
import { useSteady } from '../parts/steady.ts';
import type { Children, Job, JobPage, Schedule } from '../types.ts';
import { RELATED } from '../words/job.ts';
import { StateMark } from './state.tsx';

/** Newer jobs of the same name replace the oldest, which are not gone. */
const NONE_GONE: ReadonlySet<string> = new Set();

/** Shows the parents and the schedule of a job, searches for similar jobs, and other jobs of the same name. */
export function Related({ job }: { job: Job }) {
  const same = useData<JobPage>(job.name === null ? null : `/jobs?name=${part(job.name)}&limit=20`);
  const schedules = useData<Schedule[]>(job.name === null ? null : '/schedules');
  const others = useSteady(
    'same name',
    (same.value?.jobs ?? []).filter(({ id }) => id !== job.id),
    ({ id }) => id,
    { list: job.id },
  );
  const parents = job.depends_on.map((one) => (typeof one === 'string' ? { id: one, on: 'ok' } : one));
  const schedule = schedules.value?.find(({ name }) => name === job.name);
  return (
    <>
      <p class="facts line">
        {parents.map(({ id, on }) => (
          <span key={id}>
            <Fill text={RELATED.after[on]!} job={<a href={`/jobs/${part(id)}`}>{id}</a>} />
          </span>
        ))}
        {schedule === undefined ? null : (
          <span>
            <Fill
              text={RELATED.schedule}
              schedule={<a href={`/schedules?name=${part(schedule.name)}`}>{visible(schedule.name)}</a>}
            />
          </span>
        )}
        <span>{RELATED.find}</span>
        <a href={`/jobs?search=${part(job.command.slice(0, 200))}`}>{RELATED.sameCommand}</a>
        {job.last_error === null ? null : (
          <a href={`/jobs?error=${part(job.last_error.slice(0, 200))}`}>{RELATED.sameError}</a>
        )}
        {job.exit_code === null ? null : (
          <a href={`/jobs?exit-code=${job.exit_code}`}>{RELATED.sameExitCode}</a>
        )}
        <a href={`/jobs?queue=${part(job.queue)}`}>{RELATED.sameQueue}</a>
        {Object.entries(job.tags).map((pair) => (
          <a key={pair[0]} href={`/jobs?tag=${part(pair.join('='))}`}>
            {visible(pair.join('='))}
          </a>
        ))}
      </p>
      <ChildJobs id={job.id} />
      {others.rows.length > 0 ? (
        <div {...others.box}>
          <div class="line heading">
            <h2>{RELATED.others(visible(job.name ?? ''))}</h2>
            <ShowNew of={others} noun="job" />
          </div>
          <JobTable jobs={others.rows} steady={{ before: others.before, gone: NONE_GONE }} />
        </div>
      ) : (
        <Empty text={RELATED.none} cli="queuectl enqueue 'echo hello' --name hello" />
      )}
    </>
  );
}

/** Lists the jobs that depend on a job, with their states. */
function ChildJobs({ id }: { id: string }) {
  const { value } = useData<Children>(`/jobs/${part(id)}/children`);
  if (value === null || value.total === 0) return null;
  const more = value.total - value.children.length;
  return (
    <>
      <h2>{RELATED.children}</h2>
      <ul class="strip">
        {value.children.map((child) => (
          <li key={child.id}>
            <StateMark state={child.state} />
            <a class="id" href={`/jobs/${part(child.id)}`}>
              {child.id}
            </a>
            <span class="faint">{RELATED.child[child.on]}</span>
          </li>
        ))}
        {more > 0 ? (
          <li class="faint">
            {RELATED.childrenMore(number(more) + (value.total >= MOST_CHILDREN ? '+' : ''))}
          </li>
        ) : null}
      </ul>
    </>
  );
}
