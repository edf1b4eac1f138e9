import { duration, size, visible } from '../format.ts';
import { withQuery } from '../router.ts';
import type { Attempt, Job } from '../types.ts';
import { Empty } from './empty.tsx';
import { Since, Time } from './time.tsx';

export function Attempts({ job, attempts }: { job: Job; attempts: Attempt[] }) {
  if (attempts.length === 0) return <Empty text="It has not run yet." cli={`queuectl explain ${job.id}`} />;
  return (
    <div class="table">
      <table class="stack">
        <thead>
          <tr>
            <th class="right">Attempt</th>
            <th>How it ended</th>
            <th>Started</th>
            <th class="right">Waited</th>
            <th class="right">Ran</th>
            <th>Worker</th>
            <th class="right">Output</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map((one, i) => (
            <tr key={one.attempt} data-row={one.attempt}>
              <td class="right number" data-label="attempt">
                {one.attempt}
              </td>
              <td>
                {one.outcome === null ? 'running' : one.outcome}
                {one.exit_code === null ? null : ` ${one.exit_code}`}
                {one.signal === null ? null : ` ${one.signal}`}
                {one.error === null ? null : <span class="error">{visible(one.error)}</span>}
                {one.left_behind.length === 0 ? null : (
                  <span class="error">left processes behind: {one.left_behind.join(', ')}</span>
                )}
              </td>
              <td class="number" data-label="started">
                <Time at={one.started_at} />
              </td>
              <td class="right number" data-label="waited">
                {duration(waited(job, attempts, i))}
              </td>
              <td class="right number" data-label="ran">
                {one.duration_ms === null ? <Since at={one.started_at} /> : duration(one.duration_ms)}
              </td>
              <td class="id">{one.worker_id}</td>
              <td class="right number" data-label="output">
                <a href={withQuery({ tab: 'output', attempt: String(one.attempt) })}>
                  {one.outcome === null ? 'follow' : size(one.output_bytes)}
                </a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** From when it could have run: enqueued or due for the first, the end of the one before for the others. */
function waited(job: Job, attempts: Attempt[], i: number): number {
  const before = i === 0 ? (job.run_at ?? job.created_at) : (attempts[i - 1]!.finished_at ?? job.created_at);
  return Date.parse(attempts[i]!.started_at) - Math.max(Date.parse(before), Date.parse(job.created_at));
}
