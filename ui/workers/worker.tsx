import type { ComponentChildren } from 'preact';
import { useSeries } from '../figures/series.ts';
import { part } from '../frame/api.ts';
import { useData } from '../frame/data.ts';
import { server } from '../frame/store.ts';
import { Running } from '../overview/running.tsx';
import { Missing, Trouble } from '../parts/empty.tsx';
import { visible } from '../parts/format.ts';
import { Head } from '../parts/head.tsx';
import { Ago, Since, Time } from '../parts/time.tsx';
import type { JobPage, Worker } from '../types.ts';
import { SHARED } from '../words/shared.ts';
import { WORKER, WORKERS } from '../words/workers.ts';
import { Slots } from './slots.tsx';
import { stopWorker } from './worker-acts.ts';
import { WorkerTags } from './workers.tsx';

export function WorkerPage({ id }: { id: string }) {
  const found = useData<Worker>(`/workers/${part(id)}`);
  const running = useData<JobPage>('/jobs?state=processing&limit=100');
  const day = useSeries('24h', { names: true });
  const worker = found.value;
  if (found.problem?.status === 404)
    return <Missing text={WORKER.gone(visible(id))} href="/workers" link={WORKER.all} />;
  if (worker === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  return (
    <section aria-label={WORKER.label(id)}>
      <Head title={id} tags={<WorkerTags {...worker} />}>
        <button
          type="button"
          disabled={worker.status === 'draining'}
          onClick={() => void stopWorker(worker, 'drain')}
        >
          {WORKERS.stop}
        </button>
        <button type="button" class="danger-text" onClick={() => void stopWorker(worker, 'force')}>
          {WORKER.forceStop}
        </button>
      </Head>
      <div class="panel">
        <Facts worker={worker} />
      </div>
      <Running
        jobs={running.value?.jobs.filter(({ worker_id }) => worker_id === id)}
        names={day.value?.names ?? null}
      />
    </section>
  );
}

function Facts({ worker }: { worker: Worker }) {
  const { queues, started_at, same_executable: same } = worker;
  const version = server.value?.version ?? '';
  const rows: [string, ComponentChildren][] = [
    [SHARED.host, visible(worker.hostname)],
    [SHARED.pid, worker.pid],
    [SHARED.version, same === null ? WORKER.unknownVersion : same ? version : WORKER.differs(version)],
    [
      SHARED.queues,
      queues.includes('*')
        ? SHARED.all
        : queues.map((name) => (
            <>
              <a href={`/queues/${part(name)}`}>{visible(name)}</a>{' '}
            </>
          )),
    ],
    [SHARED.slots, <Slots running={worker.current_jobs.length} total={worker.concurrency} />],
    [SHARED.uptime, <Since at={started_at} />],
    [SHARED.started, <Time at={started_at} />],
    [SHARED.heartbeat, <Ago at={worker.last_heartbeat} />],
  ];
  return (
    <dl class="spec">
      {rows.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
