import type { ComponentChildren } from 'preact';
import { part } from '../api.ts';
import { Attention } from '../components/attention.tsx';
import { Cli } from '../components/copy.tsx';
import { Empty } from '../components/empty.tsx';
import { JobTable } from '../components/job-table.tsx';
import { Throughput } from '../components/throughput.tsx';
import { Ago, Time } from '../components/time.tsx';
import { useData } from '../data.ts';
import { number, percent, visible } from '../format.ts';
import { counts, queues } from '../store.ts';
import type { JobPage, Schedule, Stats, Worker } from '../types.ts';

const SLOW_MS = 5000;

export function OverviewPage() {
  const stats = useData<Stats>('/stats', { gapMs: SLOW_MS });
  const workers = useData<Worker[]>('/workers');
  const running = useData<JobPage>('/jobs?state=processing&limit=10');
  const schedules = useData<Schedule[]>('/schedules', {
    on: ({ kind }) => kind.startsWith('schedule') || kind === 'tick',
  });
  const jobs = counts.value;
  const nothing = jobs !== null && Object.values(jobs).every((count) => count === 0);
  return (
    <section aria-label="Overview">
      <h1 class="hidden">Overview</h1>
      <Attention workers={workers.value} schedules={schedules.value} />
      <div class="tiles">
        <Tile label="Waiting" href="/jobs?state=pending" value={jobs?.pending} />
        <Tile label="Running" href="/jobs?state=processing" value={jobs?.processing} />
        <Tile label="Retry due" href="/jobs?state=failed" value={jobs?.failed} />
        <Tile label="Dead" href="/dlq" value={jobs?.dead} bad={(jobs?.dead ?? 0) > 0} />
        <Tile label="Success" href="/stats" text={rate(stats.value)} />
        <Tile label="Per minute" href="/stats" value={stats.value?.throughput_per_minute} />
        <Tile label="Workers" href="/workers" value={workers.value?.length} />
      </div>
      {nothing ? <Welcome /> : <Throughput range="1h" />}
      <h2>Running now</h2>
      {running.value === null ? null : running.value.jobs.length === 0 ? (
        <p class="faint quiet">Nothing runs.</p>
      ) : (
        <JobTable jobs={running.value.jobs} />
      )}
      <div class="columns">
        <QueueStrip />
        <NextRuns schedules={schedules.value ?? []} />
      </div>
    </section>
  );
}

const rate = (stats: Stats | null): string =>
  stats === null || stats.success_rate === null ? '–' : percent(stats.success_rate);

interface TileProps {
  label: string;
  href: string;
  value?: number | undefined;
  text?: ComponentChildren;
  bad?: boolean;
}

function Tile({ label, href, value, text, bad = false }: TileProps) {
  return (
    <a class={bad ? 'tile bad' : 'tile'} href={href}>
      <span class="value">{text ?? (value === undefined ? '–' : number(value))}</span>
      <span class="label">{label}</span>
    </a>
  );
}

function Welcome() {
  return (
    <Empty text="Nothing was ever enqueued here. Two commands, and something moves on this page:">
      <Cli text="queuectl enqueue 'echo hello'" />
      <Cli text="queuectl worker start" />
    </Empty>
  );
}

function QueueStrip() {
  return (
    <div>
      <h2>Queues</h2>
      <ul class="strip">
        {(queues.value ?? []).map(({ name, jobs, paused, concurrency }) => (
          <li key={name}>
            <a href={`/jobs?queue=${part(name)}`}>{visible(name)}</a>
            {paused ? <span class="tag warn">paused</span> : null}
            <span class="grow" />
            <span class="number">
              {number(jobs.processing)}
              {concurrency === null ? '' : `/${number(concurrency)}`} running, {number(jobs.pending)} waiting
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function NextRuns({ schedules }: { schedules: Schedule[] }) {
  const next = schedules
    .flatMap(({ name, next_runs }) => next_runs.slice(0, 2).map((at) => ({ name, at })))
    .sort((a, b) => a.at.localeCompare(b.at))
    .slice(0, 6);
  return (
    <div>
      <h2>Next scheduled</h2>
      {next.length === 0 ? (
        <Cli text="queuectl schedule add nightly --cron '30 2 * * *' 'make backup'" />
      ) : (
        <ul class="strip">
          {next.map(({ name, at }) => (
            <li key={name + at}>
              <a href={`/schedules?name=${part(name)}`}>{visible(name)}</a>
              <span class="grow" />
              <Time at={at} />
              <span class="faint">
                <Ago at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
