import { part } from '../api.ts';
import { Empty, Trouble } from '../components/empty.tsx';
import { Ago, Since } from '../components/time.tsx';
import { useData } from '../data.ts';
import { visible } from '../format.ts';
import type { Worker } from '../types.ts';

const MOST_JOBS = 8;

export function WorkersPage() {
  const found = useData<Worker[]>('/workers');
  if (found.value === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  if (found.value.length === 0)
    return <Empty text="No worker is running. To start one:" cli="queuectl worker start --detach" />;
  return (
    <section aria-label="Workers">
      <h1 class="hidden">Workers</h1>
      <div class="table">
        <table class="stack">
          <thead>
            <tr>
              <th>Worker</th>
              <th>Status</th>
              <th>Host</th>
              <th class="right">Process</th>
              <th>Queues</th>
              <th>Runs</th>
              <th class="right">Up</th>
              <th class="right">Seen</th>
            </tr>
          </thead>
          <tbody>
            {found.value.map((worker) => (
              <Row key={worker.id} {...worker} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Row({ id, pid, hostname, status, queues, current_jobs, started_at, last_heartbeat }: Worker) {
  return (
    <tr>
      <td class="id">{id}</td>
      <td>
        <span class={`tag ${status === 'draining' ? 'warn' : status}`}>{status}</span>
      </td>
      <td>{visible(hostname)}</td>
      <td class="right number" data-label="process">
        {pid}
      </td>
      <td data-label="queues">{queues.includes('*') ? 'all' : queues.map(visible).join(', ')}</td>
      <td data-label="runs">
        {current_jobs.length === 0 ? <span class="faint">nothing</span> : null}
        {current_jobs.slice(0, MOST_JOBS).map((job) => (
          <a key={job} class="id" href={`/jobs/${part(job)}`}>
            {job}{' '}
          </a>
        ))}
        {current_jobs.length > MOST_JOBS ? `and ${current_jobs.length - MOST_JOBS} more` : null}
      </td>
      <td class="right number" data-label="up">
        <Since at={started_at} />
      </td>
      <td class="right number" data-label="seen">
        <Ago at={last_heartbeat} />
      </td>
    </tr>
  );
}
