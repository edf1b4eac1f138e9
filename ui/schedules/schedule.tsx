import type { ComponentChildren } from 'preact';
import { NO_SERIES, useSeries } from '../figures/series.ts';
import { RangeTabs, Throughput, TimesChart } from '../figures/series-charts.tsx';
import { part } from '../frame/api.ts';
import { command } from '../frame/cli.ts';
import { useData } from '../frame/data.ts';
import { place } from '../frame/router.ts';
import { Cli } from '../parts/copy.tsx';
import { Missing, Trouble } from '../parts/empty.tsx';
import { Fill } from '../parts/fill.tsx';
import { duration, number, sentence, visible } from '../parts/format.ts';
import { Head, PausedTag } from '../parts/head.tsx';
import { Ago, Time } from '../parts/time.tsx';
import type { Schedule, Times } from '../types.ts';
import { MISSED, OVERLAP, SCHEDULE } from '../words/schedules.ts';
import { SHARED } from '../words/shared.ts';
import { LastRuns } from './last-runs.tsx';
import { NextTimes } from './next-times.tsx';
import { ScheduleButtons } from './schedule-buttons.tsx';
import { scheduleDraftOf, timesQuery } from './schedule-draft.ts';
import { ofSchedules } from './schedule-events.ts';

export function SchedulePage({ id }: { id: string }) {
  const found = useData<Schedule>(`/schedules/${part(id)}`, { on: ofSchedules });
  const schedule = found.value;
  const times = useData<Times>(schedule?.paused ? timesQuery(scheduleDraftOf(schedule)) : null, {
    on: ofSchedules,
  });
  if (schedule === null && found.problem?.status === 404)
    return (
      <Missing
        text={SCHEDULE.missing(visible(id))}
        cli="queuectl schedule list"
        href="/schedules"
        link={SCHEDULE.all}
      />
    );
  if (schedule === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  const nextRuns = schedule.paused ? (times.value?.next_runs ?? []) : schedule.next_runs;
  return (
    <section aria-label={SCHEDULE.label(id)}>
      <Head title={id} tags={<PausedTag {...schedule} />}>
        <ScheduleButtons schedule={schedule} />
      </Head>
      <div class="columns">
        <div class="panel">
          <h2>{SCHEDULE.when}</h2>
          <p class="big">{sentence(schedule.text)}</p>
          {schedule.cron === null ? null : (
            <p>
              <code>{schedule.cron}</code> {schedule.timezone}
            </p>
          )}
          <h2>{schedule.paused ? SCHEDULE.nextRunsIfResumed : SCHEDULE.nextRuns}</h2>
          <NextTimes next_runs={nextRuns} timezone={schedule.timezone} />
        </div>
        <div class="panel">
          <h2>{SCHEDULE.job}</h2>
          <Facts schedule={schedule} />
        </div>
      </div>
      <h2>{SCHEDULE.lastRuns}</h2>
      {schedule.last_run_at === null ? (
        <p class="faint quiet">{SCHEDULE.notRun}</p>
      ) : (
        <p class="facts">
          <span>
            <Fill
              text={schedule.last_job_id === null ? SCHEDULE.last : SCHEDULE.lastAs}
              time={<Time at={schedule.last_run_at} />}
              when={<Ago at={schedule.last_run_at} />}
              job={<a href={`/jobs/${part(schedule.last_job_id ?? '')}`}>{schedule.last_job_id}</a>}
            />
          </span>
          <a href={`/jobs?name=${part(schedule.job.name)}`}>{SCHEDULE.allJobs}</a>
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
        <Throughput series={series.value ?? NO_SERIES} title={SCHEDULE.runs} />
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
    [SHARED.command, <code>{visible(argv === null ? schedule.command : JSON.stringify(argv))}</code>],
    [SHARED.queue, <a href={`/queues/${part(schedule.queue)}`}>{visible(schedule.queue)}</a>],
    [SCHEDULE.overlap, OVERLAP[schedule.overlap]],
    [SCHEDULE.missed, MISSED[schedule.catch_up]],
    [SCHEDULE.waitingRuns, schedule.waiting === 0 ? null : number(schedule.waiting)],
    [SHARED.priority, job.priority === 0 ? null : job.priority],
    [SHARED.maxAttempts, job.max_retries],
    [SHARED.timeout, job.timeout_ms === null ? null : duration(job.timeout_ms)],
    [SHARED.workingDirectory, job.cwd === null ? null : <code>{visible(job.cwd)}</code>],
    [SHARED.tags, visible(pairs(job.tags))],
    [SHARED.environment, visible(pairs(job.env))],
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
