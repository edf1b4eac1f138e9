import { command } from '../frame/cli.ts';
import { withQuery } from '../frame/router.ts';
import { Empty } from '../parts/empty.tsx';
import { duration, sentence, size, visible } from '../parts/format.ts';
import { NumberCell, right, Table } from '../parts/table-box.tsx';
import { Since, Time } from '../parts/time.tsx';
import type { Attempt, Job } from '../types.ts';
import { ATTEMPTS } from '../words/job.ts';
import { SHARED } from '../words/shared.ts';
import { outcomeText } from './spans.ts';

export function Attempts({ job, attempts }: { job: Job; attempts: Attempt[] }) {
  if (attempts.length === 0) return <Empty text={ATTEMPTS.none} cli={command('explain', job.id)} />;
  return (
    <Table
      heads={[
        right(ATTEMPTS.attempt),
        ATTEMPTS.outcome,
        SHARED.started,
        right(SHARED.waitTime),
        right(SHARED.runTime),
        SHARED.worker,
        right(SHARED.output),
      ]}
    >
      {attempts.map((one, i) => (
        <tr key={one.attempt} data-row={one.attempt}>
          <NumberCell label={ATTEMPTS.attempt}>{one.attempt}</NumberCell>
          <td>
            {sentence(outcomeText(one))}
            {reason(one) === '' ? null : <span class="error">{visible(reason(one))}</span>}
            {one.left_behind.length === 0 ? null : (
              <span class="error">{ATTEMPTS.leftBehind(one.left_behind.join(', '))}</span>
            )}
          </td>
          <td class="number" data-label={SHARED.started}>
            <Time at={one.started_at} />
          </td>
          <NumberCell label={SHARED.waitTime}>{duration(waited(job, attempts, i))}</NumberCell>
          <NumberCell label={SHARED.runTime}>
            {one.duration_ms === null ? <Since at={one.started_at} /> : duration(one.duration_ms)}
          </NumberCell>
          <td class="id">{one.worker_id}</td>
          <NumberCell label={SHARED.output}>
            <a href={withQuery({ tab: 'output', attempt: String(one.attempt) })}>
              {one.outcome === null ? ATTEMPTS.follow : size(one.output_bytes)}
            </a>
          </NumberCell>
        </tr>
      ))}
    </Table>
  );
}

/** Returns the error without the outcome that it starts with. */
function reason(attempt: Attempt): string {
  const [error, outcome] = [attempt.error ?? '', outcomeText(attempt)];
  if (error === outcome) return '';
  return error.startsWith(`${outcome}: `) ? error.slice(outcome.length + 2) : error;
}

/** Returns how long an attempt waited: since the job was enqueued or due, or since the previous attempt ended. */
function waited(job: Job, attempts: Attempt[], i: number): number {
  const before = i === 0 ? (job.run_at ?? job.created_at) : (attempts[i - 1]!.finished_at ?? job.created_at);
  return Date.parse(attempts[i]!.started_at) - Math.max(Date.parse(before), Date.parse(job.created_at));
}
