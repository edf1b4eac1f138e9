import { NamesTable } from '../figures/names-table.tsx';
import { endedAttempts, failedAttempts, NO_SERIES, perMinute, useSeries } from '../figures/series.ts';
import { RangeTabs, Throughput, TimesChart } from '../figures/series-charts.tsx';
import { part } from '../frame/api.ts';
import { command } from '../frame/cli.ts';
import { useData } from '../frame/data.ts';
import { useKeys } from '../frame/keys.ts';
import { limiting } from '../frame/overlays.ts';
import { place } from '../frame/router.ts';
import { queues, readOnly } from '../frame/store.ts';
import { Running } from '../overview/running.tsx';
import { Tile } from '../overview/tile.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Missing, Trouble } from '../parts/empty.tsx';
import { Fill } from '../parts/fill.tsx';
import { duration, number, plural, visible } from '../parts/format.ts';
import { Head, PausedTag } from '../parts/head.tsx';
import { Since } from '../parts/time.tsx';
import type { JobPage, Queue, Series, Worker } from '../types.ts';
import { QUEUE, QUEUES } from '../words/queues.ts';
import { SHARED } from '../words/shared.ts';
import { serves } from '../workers/serving.ts';
import { setPaused } from './queue-acts.ts';

export function QueuePage({ id }: { id: string }) {
  const range = place.value.query.get('range') ?? '1h';
  const shown = useSeries(range, { queue: id, names: true });
  const hour = useSeries('1h', { queue: id });
  const day = useSeries('24h', { queue: id, names: true });
  const running = useData<JobPage>(`/jobs?queue=${part(id)}&state=processing&limit=50`);
  const workers = useData<Worker[]>('/workers');
  const queue = queues.value?.find(({ name }) => name === id);
  useKeys({
    p: () => {
      if (queue !== undefined && !readOnly.value) void setPaused(id, !queue.paused);
    },
  });
  if (queues.value === null) return null;
  if (queue === undefined)
    return (
      <Missing
        text={QUEUE.missing(visible(id))}
        cli={command('enqueue', '--queue', id, 'echo hello')}
        href="/queues"
        link={QUEUE.all}
      />
    );
  const series = shown.value ?? NO_SERIES;
  const serving = workers.value?.filter((worker) => serves(worker, id));
  return (
    <section aria-label={QUEUE.label(id)}>
      <Head title={id} tags={<PausedTag {...queue} />}>
        <CopyButton text={command('queue', queue.paused ? 'resume' : 'pause', id)} label={SHARED.copyAsCli} />
        <button type="button" onClick={() => void setPaused(id, !queue.paused)}>
          {queue.paused ? SHARED.resume : SHARED.pause}
        </button>
        <button
          type="button"
          onClick={() => {
            limiting.value = queue;
          }}
        >
          {QUEUES.limits}
        </button>
      </Head>
      <Facts queue={queue} serving={serving} />
      <Tiles queue={queue} hour={hour.value} day={day.value} />
      <RangeTabs range={range} />
      {shown.problem === null ? null : <Trouble problem={shown.problem} />}
      <Throughput series={series} />
      <div class="columns">
        <TimesChart series={series} of="wait_ms" />
        <TimesChart series={series} of="run_ms" />
      </div>
      {shown.value === null ? null : (
        <NamesTable title={QUEUE.busiest(range)} names={shown.value.names ?? []} by="busiest" />
      )}
      <Running jobs={running.value?.jobs} names={day.value?.names ?? null} />
    </section>
  );
}

/** Shows the limits of a queue and its workers, with a warning if there are none. */
function Facts({ queue, serving }: { queue: Queue; serving: Worker[] | undefined }) {
  const { concurrency, rate } = queue;
  const slots = serving?.reduce((sum, worker) => sum + worker.concurrency, 0) ?? 0;
  return (
    <p class="facts quiet">
      <span>
        {concurrency === null ? QUEUE.noConcurrencyLimit : QUEUE.maxConcurrent(number(concurrency))}
      </span>
      <span>{rate === null ? QUEUE.noRateLimit : QUEUE.rateLimit(rate)}</span>
      {serving === undefined ? null : serving.length === 0 ? (
        <span class="tag warn">{QUEUE.notServed}</span>
      ) : (
        <span>
          <Fill
            text={QUEUE.served}
            workers={<a href="/workers">{plural(serving.length, 'worker')}</a>}
            slots={plural(slots, 'slot')}
          />
        </span>
      )}
    </p>
  );
}

function Tiles({ queue, hour, day }: { queue: Queue; hour: Series | null; day: Series | null }) {
  const { name, jobs, concurrency, oldest_waiting_at: oldest } = queue;
  const list = (state: string): string => `/jobs?queue=${part(name)}&state=${state}`;
  const rate = (value: number | undefined): string =>
    value === undefined ? '–' : QUEUE.perMinute(number(value));
  const failed = day === null ? undefined : failedAttempts(day.total);
  const limit = concurrency === null ? '' : `/${number(concurrency)}`;
  return (
    <div class="tiles five">
      <Tile label={SHARED.waiting} href={list('pending')} value={jobs.pending} />
      <Tile label={SHARED.running} href={list('processing')} text={`${number(jobs.processing)}${limit}`} />
      <Tile label={SHARED.retrying} href={list('failed')} value={jobs.failed} />
      <Tile
        label={SHARED.oldestWaiting}
        href={list('pending')}
        text={oldest === null ? '–' : <Since at={oldest} />}
      />
      <Tile
        label={QUEUE.enqueued}
        href={list('pending')}
        text={rate(hour ? perMinute(hour, (one) => one.enqueued) : undefined)}
      />
      <Tile
        label={SHARED.attempts}
        href={list('completed')}
        text={rate(hour ? perMinute(hour, endedAttempts) : undefined)}
      />
      <Tile label={QUEUE.waitP95} href={list('pending')} text={duration(hour?.total.wait_ms?.p95)} />
      <Tile label={QUEUE.runP95} href={list('completed')} text={duration(hour?.total.run_ms?.p95)} />
      <Tile label={SHARED.attemptsFailedToday} href={list('dead')} value={failed} bad={(failed ?? 0) > 0} />
      <Tile label={SHARED.dead} href={list('dead')} value={jobs.dead} bad={jobs.dead > 0} />
    </div>
  );
}
