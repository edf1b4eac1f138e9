import { part } from '../frame/api.ts';
import { now } from '../frame/store.ts';
import { duration, elapsed, visible } from '../parts/format.ts';
import { rowLook, ShowNew } from '../parts/show-new.tsx';
import { type Steady, useSteady } from '../parts/steady.ts';
import { NumberCell, right, Table } from '../parts/table-box.tsx';
import { Since } from '../parts/time.tsx';
import type { Job, NamedFigures } from '../types.ts';
import { RUNNING } from '../words/overview.ts';
import { SHARED } from '../words/shared.ts';

/** Fewer completed jobs do not predict the run time of the next one. */
const ENOUGH = 10;
const WONDER_MS = 10_000;

/** Returns the usual run times of jobs with the same queue and name, or null if too few have completed. */
export function usualTimes(job: Job, names: NamedFigures[] | null): NamedFigures['run_ms'] {
  const one = names?.find(({ queue, name }) => queue === job.queue && name === job.name);
  return one === undefined || one.completed < ENOUGH ? null : one.run_ms;
}

export const ranFor = (job: Job): number =>
  job.started_at === null ? 0 : now.value - Date.parse(job.started_at);

/** Returns true if a job runs longer than 99% of similar jobs, and long enough to matter. */
export function isSlow(job: Job, names: NamedFigures[] | null): boolean {
  const times = usualTimes(job, names);
  return times !== null && ranFor(job) > Math.max(times.p99, WONDER_MS);
}

/** Lists running jobs under a heading, the longest first, with an estimate of the time left. */
export function Running({ jobs, names }: { jobs: Job[] | undefined; names: NamedFigures[] | null }) {
  const sorted = (jobs ?? []).toSorted((a, b) => (a.started_at ?? '').localeCompare(b.started_at ?? ''));
  const list = useSteady('running', sorted, ({ id }) => id);
  return (
    <div {...list.box}>
      <div class="line heading">
        <h2>{SHARED.runningNow}</h2>
        <ShowNew of={list} noun="job" />
      </div>
      {jobs !== undefined && list.rows.length === 0 ? <p class="faint quiet">{RUNNING.none}</p> : null}
      {list.rows.length === 0 ? null : <Rows list={list} names={names} />}
    </div>
  );
}

function Rows({ list, names }: { list: Steady<Job>; names: NamedFigures[] | null }) {
  return (
    <Table
      heads={[
        SHARED.job,
        SHARED.command,
        SHARED.queue,
        SHARED.worker,
        right(RUNNING.elapsed),
        right(RUNNING.left),
      ]}
    >
      {list.rows.map((job) => (
        <tr key={job.id} data-row={job.id} {...rowLook(list.gone.has(job.id))}>
          <td class="which">
            <a class="id" href={`/jobs/${part(job.id)}`}>
              {job.id}
            </a>
            {job.name === null ? null : <span class="name"> {visible(job.name)}</span>}
          </td>
          <td class="command">
            <code title={visible(job.command)}>{visible(job.command)}</code>
          </td>
          <td data-label={SHARED.queue}>
            <a href={`/queues/${part(job.queue)}`}>{visible(job.queue)}</a>
          </td>
          <td data-label={SHARED.worker}>
            <a class="id" href={`/workers/${part(job.worker_id ?? '')}`}>
              {job.worker_id}
            </a>
          </td>
          <NumberCell label={RUNNING.elapsed}>
            {job.started_at === null ? null : <Since at={job.started_at} />}
          </NumberCell>
          <NumberCell label={RUNNING.left}>
            <Left job={job} names={names} />
          </NumberCell>
        </tr>
      ))}
    </Table>
  );
}

function Left({ job, names }: { job: Job; names: NamedFigures[] | null }) {
  const times = usualTimes(job, names);
  if (times === null) return <span class="faint">–</span>;
  const ran = ranFor(job);
  const title = RUNNING.usual(duration(times.p50), duration(times.p99));
  if (isSlow(job, names))
    return (
      <span class="tag warn" title={title}>
        {RUNNING.slow}
      </span>
    );
  return (
    <span title={title}>{ran > times.p50 ? RUNNING.soon : RUNNING.about(elapsed(times.p50 - ran))}</span>
  );
}
