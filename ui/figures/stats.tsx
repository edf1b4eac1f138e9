import { shellWord } from '../../src/core/text/shell-quote.ts';
import { command } from '../frame/cli.ts';
import { apiOrigin, mounted } from '../frame/mount.ts';
import { go, place, withQuery } from '../frame/router.ts';
import { queues, server, sumOf } from '../frame/store.ts';
import { Cli } from '../parts/copy.tsx';
import { Trouble } from '../parts/empty.tsx';
import { Fill } from '../parts/fill.tsx';
import { duration, number, percent, visible } from '../parts/format.ts';
import type { Percentiles, Series } from '../types.ts';
import { PAGE_TITLES } from '../words/frame.ts';
import { METRICS } from '../words/metrics.ts';
import { SHARED } from '../words/shared.ts';
import { NamesTable } from './names-table.tsx';
import { endedAttempts, failedAttempts, NO_SERIES, useSeries } from './series.ts';
import { Depth, FailureRate, RangeTabs, Throughput, TimesChart } from './series-charts.tsx';

declare const GRAFANA: string;

export function StatsPage() {
  const range = place.value.query.get('range') ?? '1h';
  const queue = place.value.query.get('queue') ?? undefined;
  const found = useSeries(range, { queue, names: true });
  const series = found.value ?? NO_SERIES;
  const some = (queues.value ?? []).filter(({ name }) => queue === undefined || name === queue);
  const { pending, processing, failed } = sumOf(some);
  return (
    <section aria-label={PAGE_TITLES.metrics}>
      <h1 class="hidden">{PAGE_TITLES.metrics}</h1>
      <div class="bar">
        <RangeTabs range={range} />
        <QueueChoice queue={queue} />
      </div>
      {found.problem === null ? null : <Trouble problem={found.problem} />}
      <Total series={series} />
      <Throughput series={series} />
      <div class="columns pairs">
        <TimesChart series={series} of="wait_ms" />
        <TimesChart series={series} of="run_ms" />
        <FailureRate series={series} />
        <Depth series={series} unfinished={pending + processing + failed} />
      </div>
      {found.loading ? null : (
        <>
          <NamesTable title={METRICS.slowest(range)} names={series.names ?? []} by="slowest" />
          <h2>{METRICS.elsewhere}</h2>
          <Elsewhere range={range} queue={queue} />
        </>
      )}
    </section>
  );
}

function QueueChoice({ queue }: { queue: string | undefined }) {
  return (
    <label class="inline">
      <span class="faint">{SHARED.queue}</span>
      <select
        value={queue ?? ''}
        onInput={(event) => go(withQuery({ queue: event.currentTarget.value || null }))}
      >
        <option value="">{SHARED.all}</option>
        {(queues.value ?? []).map(({ name }) => (
          <option key={name} value={name}>
            {visible(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Shows the totals of the range in one line. */
function Total({ series }: { series: Series }) {
  const { total } = series;
  const all = endedAttempts(total);
  const count = (value: number) => <b>{series === NO_SERIES ? '–' : number(value)}</b>;
  const times = (of: Percentiles | null) => ({
    p50: <b>{duration(of?.p50)}</b>,
    p95: <b>{duration(of?.p95)}</b>,
  });
  return (
    <p class="facts quiet">
      <span>
        <Fill text={METRICS.enqueued} count={count(total.enqueued)} />
      </span>
      <span>
        <Fill text={METRICS.attempts} count={count(all)} />
      </span>
      <span>
        <Fill
          text={all === 0 ? METRICS.failed : METRICS.failedPart}
          count={count(failedAttempts(total))}
          part={percent(failedAttempts(total) / all)}
        />
      </span>
      <span>
        <Fill text={METRICS.dead} count={count(total.dead)} />
      </span>
      <span>
        <Fill text={METRICS.wait} {...times(total.wait_ms)} />
      </span>
      <span>
        <Fill text={METRICS.run} {...times(total.run_ms)} />
      </span>
    </p>
  );
}

function Elsewhere({ range, queue }: { range: string; queue: string | undefined }) {
  const open = server.value?.public_metrics ?? false;
  const url = shellWord(apiOrigin() + mounted('/metrics'));
  return (
    <dl class="spec panel">
      <div>
        <dt>{SHARED.commandLine}</dt>
        <dd>
          <Cli
            text={command('stats', '--range', range, ...(queue === undefined ? [] : ['--queue', queue]))}
          />
        </dd>
      </div>
      <div>
        <dt>{METRICS.prometheus}</dt>
        <dd>
          <Cli text={open ? `curl ${url}` : `curl -H "Authorization: Bearer $TOKEN" ${url}`} />
          <p class="faint">{open ? METRICS.publicMetrics : METRICS.privateMetrics}</p>
        </dd>
      </div>
      <div>
        <dt>{METRICS.grafana}</dt>
        <dd>
          <a class="button small" href={GRAFANA} download="queuectl-grafana.json">
            {METRICS.download}
          </a>
        </dd>
      </div>
    </dl>
  );
}
