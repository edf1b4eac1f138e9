import { command } from '../cli.ts';
import { Cli } from '../components/copy.tsx';
import { Trouble } from '../components/empty.tsx';
import { NamesTable } from '../components/names-table.tsx';
import { Depth, FailureRate, RangeTabs, Throughput, TimesChart } from '../components/series-charts.tsx';
import { duration, number as inDigits, percent, visible } from '../format.ts';
import { mounted } from '../mount.ts';
import { go, place, withQuery } from '../router.ts';
import { bad, ended, NO_SERIES, useSeries } from '../series.ts';
import { queues, server, sumOf } from '../store.ts';
import type { Series } from '../types.ts';

declare const GRAFANA: string;

export function StatsPage() {
  const range = place.value.query.get('range') ?? '1h';
  const queue = place.value.query.get('queue') ?? undefined;
  const found = useSeries(range, { queue, names: true });
  const series = found.value ?? NO_SERIES;
  const some = (queues.value ?? []).filter(({ name }) => queue === undefined || name === queue);
  const { pending, processing, failed } = sumOf(some);
  const oldest = some.map((one) => one.oldest_waiting_at).filter((at) => at !== null);
  return (
    <section aria-label="Metrics">
      <h1 class="hidden">Metrics</h1>
      <div class="bar">
        <RangeTabs range={range} />
        <QueueChoice queue={queue} />
      </div>
      {found.problem === null ? null : <Trouble problem={found.problem} />}
      <Total series={series} />
      <Throughput series={series} />
      <div class="columns pairs">
        <TimesChart series={series} of="wait_ms" oldest={oldest.sort()[0] ?? null} />
        <TimesChart series={series} of="run_ms" />
        <FailureRate series={series} />
        <Depth series={series} unfinished={pending + processing + failed} />
      </div>
      {found.loading ? null : (
        <>
          <h2>Slowest names, {range}</h2>
          <NamesTable names={series.names ?? []} by="slowest" />
          <h2>Elsewhere</h2>
          <Elsewhere range={range} queue={queue} />
        </>
      )}
    </section>
  );
}

function QueueChoice({ queue }: { queue: string | undefined }) {
  return (
    <label class="inline">
      <span class="faint">Queue</span>
      <select
        value={queue ?? ''}
        onInput={(event) => go(withQuery({ queue: event.currentTarget.value || null }))}
      >
        <option value="">all</option>
        {(queues.value ?? []).map(({ name }) => (
          <option key={name} value={name}>
            {visible(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The range in one line. */
function Total({ series }: { series: Series }) {
  const { total } = series;
  const all = ended(total);
  const number = (value: number): string => (series === NO_SERIES ? '–' : inDigits(value));
  return (
    <p class="facts quiet">
      <span>
        <b>{number(total.enqueued)}</b> enqueued
      </span>
      <span>
        <b>{number(all)}</b> attempts ended
      </span>
      <span>
        <b>{number(bad(total))}</b> failed{all === 0 ? '' : ` (${percent(bad(total) / all)})`},{' '}
        <b>{number(total.dead)}</b> of them for good
      </span>
      <span>
        waited <b>{duration(total.wait_ms?.p50)}</b>, p95 <b>{duration(total.wait_ms?.p95)}</b>
      </span>
      <span>
        ran <b>{duration(total.run_ms?.p50)}</b>, p95 <b>{duration(total.run_ms?.p95)}</b>
      </span>
    </p>
  );
}

function Elsewhere({ range, queue }: { range: string; queue: string | undefined }) {
  const open = server.value?.public_metrics ?? false;
  const url = location.origin + mounted('/metrics');
  return (
    <dl class="spec panel">
      <div>
        <dt>Command line</dt>
        <dd>
          <Cli
            text={command('stats', '--range', range, ...(queue === undefined ? [] : ['--queue', queue]))}
          />
        </dd>
      </div>
      <div>
        <dt>Prometheus</dt>
        <dd>
          <Cli text={open ? `curl ${url}` : `curl -H "Authorization: Bearer $TOKEN" ${url}`} />
          <p class="faint">
            {open
              ? 'Anybody may read it: this server was started with --public-metrics.'
              : 'Send a token as a bearer token (the read-only token is enough), or start the server with --public-metrics.'}
          </p>
        </dd>
      </div>
      <div>
        <dt>Grafana</dt>
        <dd>
          <a class="button small" href={GRAFANA} download="queuectl-grafana.json">
            Download the dashboard
          </a>
        </dd>
      </div>
    </dl>
  );
}
