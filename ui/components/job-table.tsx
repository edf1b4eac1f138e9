import { part } from '../api.ts';
import { duration, visible } from '../format.ts';
import type { Job } from '../types.ts';
import { StateMark } from './state.tsx';
import { Ago, Since } from './time.tsx';

interface JobTableProps {
  jobs: Job[];
  /** Rows can be selected. */
  selected?: ReadonlySet<string>;
  onSelect?(id: string): void;
  onSelectPage?(all: boolean): void;
}

export function JobTable({ jobs, selected, onSelect, onSelectPage }: JobTableProps) {
  const whole = jobs.length > 0 && jobs.every((job) => selected?.has(job.id));
  return (
    <div class="table">
      <table class="jobs">
        <thead>
          <tr>
            {selected === undefined ? null : (
              <th class="box">
                <input
                  type="checkbox"
                  aria-label="Select this page"
                  checked={whole}
                  onChange={() => onSelectPage?.(!whole)}
                />
              </th>
            )}
            <th>State</th>
            <th>Job</th>
            <th>Command</th>
            <th>Queue</th>
            <th class="right">Attempts</th>
            <th class="right">Ran</th>
            <th class="right">Changed</th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id} data-row={job.id} class={selected?.has(job.id) ? 'selected' : undefined}>
              {selected === undefined ? null : (
                <td class="box">
                  <input
                    type="checkbox"
                    aria-label={`Select job ${job.id}`}
                    checked={selected.has(job.id)}
                    onChange={() => onSelect?.(job.id)}
                  />
                </td>
              )}
              <td>
                <StateMark state={job.state} />
              </td>
              <td class="which">
                <a class="id" href={`/jobs/${part(job.id)}`}>
                  {job.id}
                </a>
                {job.name === null ? null : <span class="name"> {visible(job.name)}</span>}
              </td>
              <td class="command">
                <code title={visible(job.command)}>{visible(job.command)}</code>
                {job.last_error === null || job.state === 'completed' ? null : (
                  <span class="error">{visible(job.last_error)}</span>
                )}
              </td>
              <td>{visible(job.queue)}</td>
              <td class="right number">
                {job.attempts}
                <span class="faint">/{Math.max(1, job.max_retries)}</span>
              </td>
              <td class="right number">
                {job.state === 'processing' && job.started_at !== null ? (
                  <Since at={job.started_at} />
                ) : (
                  duration(job.duration_ms)
                )}
              </td>
              <td class="right number">
                <Ago at={job.updated_at} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
