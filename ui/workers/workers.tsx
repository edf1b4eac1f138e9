import { part } from '../frame/api.ts';
import { useData } from '../frame/data.ts';
import { place, withQuery } from '../frame/router.ts';
import { readOnly } from '../frame/store.ts';
import { Empty, Trouble } from '../parts/empty.tsx';
import { number, plural, visible } from '../parts/format.ts';
import { rowLook, ShowNew } from '../parts/show-new.tsx';
import { useSteady } from '../parts/steady.ts';
import { NumberCell, right, Table } from '../parts/table-box.tsx';
import { Ago, Since } from '../parts/time.tsx';
import type { Worker } from '../types.ts';
import { PAGE_TITLES } from '../words/frame.ts';
import { SHARED } from '../words/shared.ts';
import { WORKERS } from '../words/workers.ts';
import { Slots, slotsInUse } from './slots.tsx';
import { stopWorker } from './worker-acts.ts';

const MOST_JOBS = 8;

export function WorkersPage() {
  const found = useData<Worker[]>('/workers');
  const host = place.value.query.get('host');
  const list = useSteady(
    'workers',
    (found.value ?? []).filter(({ hostname }) => host === null || hostname === host),
    ({ id }) => id,
    { list: host ?? '' },
  );
  if (found.value === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  if (found.value.length === 0) return <Empty text={WORKERS.none} cli="queuectl worker start --detach" />;
  const hosts = [...new Set(found.value.map(({ hostname }) => hostname))].sort();
  const shown = found.value.filter(({ hostname }) => host === null || hostname === host);
  const slots = shown.reduce((sum, { concurrency }) => sum + concurrency, 0);
  const busy = shown.reduce((sum, one) => sum + slotsInUse(one.current_jobs.length, one.concurrency), 0);
  return (
    <section aria-label={PAGE_TITLES.workers} {...list.box}>
      <h1 class="hidden">{PAGE_TITLES.workers}</h1>
      <p class="line">
        <span class="faint">
          {WORKERS.summary(plural(shown.length, 'worker'), number(busy), plural(slots, 'slot'))}
        </span>
        {hosts.length < 2
          ? null
          : [null, ...hosts].map((one) => (
              <a
                key={one}
                class="tag"
                href={withQuery({ host: one })}
                aria-current={one === host ? 'true' : undefined}
              >
                {one === null ? WORKERS.allHosts : visible(one)}
              </a>
            ))}
        <ShowNew of={list} noun="worker" />
      </p>
      <Table
        heads={[
          SHARED.worker,
          SHARED.status,
          SHARED.host,
          right(SHARED.pid),
          SHARED.queues,
          right(SHARED.slots),
          WORKERS.runningJobs,
          right(SHARED.uptime),
          right(SHARED.heartbeat),
          readOnly.value ? null : SHARED.actions,
        ]}
      >
        {list.rows.map((worker) => (
          <Row key={worker.id} worker={worker} isGone={list.gone.has(worker.id)} />
        ))}
      </Table>
    </section>
  );
}

function Row({ worker, isGone }: { worker: Worker; isGone: boolean }) {
  const { id, pid, hostname, queues, current_jobs, started_at, last_heartbeat } = worker;
  const jobs = useSteady('workers', current_jobs, (job) => job);
  // New jobs are shown behind the others, which keep their places.
  const shown = [...jobs.rows, ...jobs.fresh];
  return (
    <tr data-row={id} {...rowLook(isGone)}>
      <td>
        <a class="id" href={`/workers/${part(id)}`}>
          {id}
        </a>
      </td>
      <td>
        <WorkerTags {...worker} />
      </td>
      <td data-label={SHARED.host}>{visible(hostname)}</td>
      <NumberCell label={SHARED.pid}>{pid}</NumberCell>
      <td data-label={SHARED.queues}>{queues.includes('*') ? SHARED.all : queues.map(visible).join(', ')}</td>
      <NumberCell label={SHARED.slots}>
        <Slots running={current_jobs.length} total={worker.concurrency} />
      </NumberCell>
      <td class="cut current" data-label={WORKERS.runningJobs}>
        {shown.length === 0 ? <span class="faint">{SHARED.none}</span> : null}
        {shown.slice(0, MOST_JOBS).map((job) => (
          <a key={job} class={jobs.gone.has(job) ? 'id gone' : 'id'} href={`/jobs/${part(job)}`}>
            {job}{' '}
          </a>
        ))}
        {shown.length > MOST_JOBS ? SHARED.more(number(shown.length - MOST_JOBS)) : null}
      </td>
      <NumberCell label={SHARED.uptime}>
        <Since at={started_at} />
      </NumberCell>
      <NumberCell label={SHARED.heartbeat}>
        <Ago at={last_heartbeat} />
      </NumberCell>
      {readOnly.value ? null : (
        <td class="wide">
          <button
            type="button"
            class="small"
            disabled={worker.status === 'draining'}
            onClick={() => void stopWorker(worker, 'drain')}
          >
            {WORKERS.stop}
          </button>
        </td>
      )}
    </tr>
  );
}

/** Shows the status of a worker, and whether it runs a different version. */
export function WorkerTags({ status, same_executable }: Worker) {
  return (
    <>
      <span class={`tag ${status === 'draining' ? 'warn' : status}`}>{WORKERS.statuses[status]}</span>
      {same_executable === false ? <span class="tag warn">{WORKERS.otherVersion}</span> : null}
    </>
  );
}
