import type { ComponentChildren } from 'preact';
import { part } from '../api.ts';
import { command } from '../cli.ts';
import { Cli } from '../components/copy.tsx';
import { Trouble } from '../components/empty.tsx';
import { Head, PausedTag } from '../components/head.tsx';
import { LastRuns } from '../components/last-runs.tsx';
import { NextTimes } from '../components/next-times.tsx';
import { ScheduleButtons } from '../components/schedule-buttons.tsx';
import { RangeTabs, Throughput, TimesChart } from '../components/series-charts.tsx';
import { Ago, Time } from '../components/time.tsx';
import { useData } from '../data.ts';
import { duration, plural, visible } from '../format.ts';
import { place } from '../router.ts';
import { timesQuery, writtenOf } from '../schedule-draft.ts';
import { ofSchedules } from '../schedule-events.ts';
import { NO_SERIES, useSeries } from '../series.ts';
import type { Schedule, Times } from '../types.ts';

const OVERLAP: Record<string, string> = {
  skip: 'a tick is skipped while its last job is unfinished',
  queue: 'a tick waits while its last job is unfinished',
  allow: 'its jobs may run side by side',
};
const CATCH_UP: Record<string, string> = {
  none: 'what was missed is not made up for',
  one: 'of what was missed the last one is made up for',
  all: 'all that was missed is made up for',
};

export function SchedulePage({ id }: { id: string }) {
  const found = useData<Schedule>(`/schedules/${part(id)}`, { on: ofSchedules });
  const schedule = found.value;
  const times = useData<Times>(schedule === null ? null : timesQuery(writtenOf(schedule)), {
    on: ofSchedules,
  });
  if (schedule === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  return (
    <section aria-label={`Schedule ${id}`}>
      <Head title={id} tags={<PausedTag {...schedule} />}>
        <ScheduleButtons schedule={schedule} />
      </Head>
      <div class="columns">
        <div class="panel">
          <h2>When</h2>
          <p class="big">{schedule.text}</p>
          {schedule.cron === null ? null : (
            <p>
              <code>{schedule.cron}</code> {schedule.timezone}
            </p>
          )}
          <h2>{schedule.paused ? 'Would run, were it not paused' : 'Next runs'}</h2>
          {times.value === null ? null : (
            <NextTimes
              next_runs={schedule.paused ? times.value.next_runs : schedule.next_runs}
              timezone={schedule.timezone}
              clock_change={times.value.clock_change}
            />
          )}
        </div>
        <div class="panel">
          <h2>What</h2>
          <Facts schedule={schedule} />
        </div>
      </div>
      <h2>Last runs</h2>
      {schedule.last_run_at === null ? (
        <p class="faint quiet">It has not run yet.</p>
      ) : (
        <p class="facts">
          <span>
            last <Time at={schedule.last_run_at} /> (<Ago at={schedule.last_run_at} />)
            {schedule.last_job_id === null ? null : (
              <>
                {' '}
                as <a href={`/jobs/${part(schedule.last_job_id)}`}>{schedule.last_job_id}</a>
              </>
            )}
          </span>
          <a href={`/jobs?name=${part(schedule.job.name)}`}>all its jobs</a>
        </p>
      )}
      <LastRuns name={schedule.job.name} />
      <Charts name={schedule.job.name} />
      <p class="line">
        <Cli text={command('schedule', 'show', id)} />
      </p>
    </section>
  );
}

function Charts({ name }: { name: string }) {
  const range = place.value.query.get('range') ?? '24h';
  const series = useSeries(range, { name });
  return (
    <>
      <RangeTabs range={range} />
      <div class="columns">
        <Throughput series={series.value ?? NO_SERIES} title="Runs" />
        <TimesChart series={series.value ?? NO_SERIES} of="run_ms" />
      </div>
    </>
  );
}

function Facts({ schedule }: { schedule: Schedule }) {
  const { job, argv } = schedule;
  const pairs = (of: Record<string, string>): string =>
    Object.entries(of)
      .map(([key, value]) => `${key}=${value}`)
      .join('\n');
  const rows: [string, ComponentChildren][] = [
    ['Command', <code>{visible(argv === null ? schedule.command : JSON.stringify(argv))}</code>],
    ['Queue', <a href={`/queues/${part(schedule.queue)}`}>{visible(schedule.queue)}</a>],
    ['Overlap', OVERLAP[schedule.overlap]],
    ['Missed', CATCH_UP[schedule.catch_up]],
    ['Waiting', schedule.waiting === 0 ? null : plural(schedule.waiting, 'tick')],
    ['Priority', job.priority === 0 ? null : job.priority],
    ['Executions in all', job.max_retries],
    ['Timeout', job.timeout_ms === null ? null : duration(job.timeout_ms)],
    ['Directory', job.cwd === null ? null : <code>{visible(job.cwd)}</code>],
    ['Tags', visible(pairs(job.tags))],
    ['Environment', visible(pairs(job.env))],
  ];
  return (
    <dl class="spec">
      {rows
        .filter(([, value]) => value !== null && value !== '')
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
