import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { completedShare, failedAttempts, NO_SERIES, useSeries } from '../figures/series.ts';
import { Throughput } from '../figures/series-charts.tsx';
import { part } from '../frame/api.ts';
import { useData } from '../frame/data.ts';
import { counts, queues, readOnly } from '../frame/store.ts';
import { Cli } from '../parts/copy.tsx';
import { Empty } from '../parts/empty.tsx';
import { number, percent, sentence, visible } from '../parts/format.ts';
import { Icon } from '../parts/icon.tsx';
import { ShowNew } from '../parts/show-new.tsx';
import { useSteady } from '../parts/steady.ts';
import { Ago, Since, Time } from '../parts/time.tsx';
import { setPaused } from '../queues/queue-acts.ts';
import { ofSchedules } from '../schedules/schedule-events.ts';
import type { Doctor, JobPage, Schedule, Series, WaitingCount, Worker } from '../types.ts';
import { PAGE_TITLES } from '../words/frame.ts';
import { OVERVIEW } from '../words/overview.ts';
import { QUEUE_ACTS, SHARED } from '../words/shared.ts';
import { serves } from '../workers/serving.ts';
import { Slots } from '../workers/slots.tsx';
import { Attention } from './attention.tsx';
import { Running } from './running.tsx';
import { Tile } from './tile.tsx';

const DOCTOR_MS = 60_000;
/** The page is shown without the result of the checks if they take longer than this. */
const CHECKS_WAIT_MS = 2000;
/** A job that becomes due causes no event. */
const DUE_MS = 15_000;

export function OverviewPage() {
  const hour = useSeries('1h');
  const day = useSeries('24h', { names: true });
  const workers = useData<Worker[]>('/workers');
  const waiting = useData<WaitingCount[]>('/waiting', { everyMs: DUE_MS });
  const running = useData<JobPage>('/jobs?state=processing&limit=50');
  const schedules = useData<Schedule[]>('/schedules', { on: ofSchedules });
  const doctor = useData<Doctor>('/doctor?quick=true', { gapMs: DOCTOR_MS });
  const jobs = counts.value;
  const nothing = jobs !== null && Object.values(jobs).every((count) => count === 0);
  const names = day.value?.names ?? null;
  // Problems are shown at the top. The page waits for them, so that nothing moves down later.
  const isLate = useTimeout(CHECKS_WAIT_MS);
  const reading =
    [hour, workers, waiting, running, schedules].some(({ loading }) => loading) ||
    (doctor.loading && !isLate);
  if (reading || (jobs === null && hour.problem === null)) return null;
  return (
    <section aria-label={PAGE_TITLES.overview}>
      <h1 class="hidden">{PAGE_TITLES.overview}</h1>
      <Attention
        workers={workers.value}
        waiting={waiting.value}
        schedules={schedules.value}
        running={running.value?.jobs ?? []}
        hour={hour.value}
        names={names}
        doctor={doctor.value}
      />
      <Tiles workers={workers.value} waiting={waiting.value} day={day.value} />
      {nothing ? <Welcome /> : <Throughput series={hour.value ?? NO_SERIES} title={OVERVIEW.throughput} />}
      <Running jobs={running.value?.jobs} names={names} />
      <div class="columns">
        <QueueStrip workers={workers.value ?? []} />
        <NextRuns schedules={schedules.value ?? []} />
      </div>
    </section>
  );
}

/** Returns whether this time has passed since the first call. */
function useTimeout(ms: number): boolean {
  const isOver = useSignal(false);
  useEffect(() => {
    const timer = setTimeout(() => {
      isOver.value = true;
    }, ms);
    return () => clearTimeout(timer);
  }, []);
  return isOver.value;
}

interface TilesProps {
  workers: Worker[] | null;
  waiting: WaitingCount[] | null;
  day: Series | null;
}

function Tiles({ workers, waiting, day }: TilesProps) {
  const jobs = counts.value;
  const completed = day === null ? null : completedShare(day.total);
  const failed = day === null ? undefined : failedAttempts(day.total);
  const oldest = (queues.value ?? [])
    .map((queue) => queue.oldest_waiting_at)
    .filter((at) => at !== null)
    .sort()[0];
  return (
    <div class="tiles">
      <Tile label={SHARED.waiting} href="/jobs?state=pending" value={jobs?.pending} />
      <Tile
        label={SHARED.oldestWaiting}
        href="/queues"
        text={oldest === undefined ? '–' : <Since at={oldest} />}
      />
      <Tile label={SHARED.running} href="/jobs?state=processing" value={jobs?.processing} />
      <Tile label={SHARED.retrying} href="/jobs?state=failed" value={jobs?.failed} />
      <Tile label={SHARED.attemptsFailedToday} href="/stats?range=24h" value={failed} />
      <Tile label={SHARED.dead} href="/dlq" value={jobs?.dead} bad={(jobs?.dead ?? 0) > 0} />
      <Tile
        label={OVERVIEW.jobsCompleted}
        href="/stats?range=24h"
        text={completed === null ? '–' : percent(completed)}
      />
      <Tile
        label={PAGE_TITLES.workers}
        href="/workers"
        value={workers?.length}
        bad={workers?.length === 0 && (waiting ?? []).some((one) => one.jobs.no_worker > 0)}
      />
    </div>
  );
}

function Welcome() {
  return (
    <Empty text={OVERVIEW.welcome}>
      <Cli text="queuectl enqueue 'echo hello'" />
      <Cli text="queuectl worker start" />
    </Empty>
  );
}

/** Shows how many jobs run in each queue, out of its limit or the slots that serve it. */
function QueueStrip({ workers }: { workers: Worker[] }) {
  const list = useSteady('queues', queues.value ?? [], ({ name }) => name);
  return (
    <div {...list.box}>
      <div class="line heading">
        <h2>{SHARED.queues}</h2>
        <ShowNew of={list} noun="queue" />
      </div>
      <ul class="strip">
        {list.rows.map(({ name, jobs, paused, concurrency }) => {
          const slots = workers
            .filter((worker) => serves(worker, name))
            .reduce((sum, worker) => sum + worker.concurrency, 0);
          const toggle = (paused ? QUEUE_ACTS.resume : QUEUE_ACTS.pause)(visible(name));
          return (
            <li key={name}>
              <a href={`/queues/${part(name)}`}>{visible(name)}</a>
              {paused ? <span class="tag warn">{SHARED.paused}</span> : null}
              <span class="grow" />
              <span class="number">{OVERVIEW.waiting(number(jobs.pending))}</span>
              <Slots running={jobs.processing} total={Math.min(concurrency ?? slots, slots)} />
              {readOnly.value ? null : (
                <button
                  type="button"
                  class="plain"
                  title={toggle}
                  onClick={() => void setPaused(name, !paused)}
                >
                  <Icon name={paused ? 'play' : 'pause'} />
                  <span class="hidden">{toggle}</span>
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function NextRuns({ schedules }: { schedules: Schedule[] }) {
  const next = schedules
    .flatMap(({ name, text, next_runs }) => next_runs.slice(0, 2).map((at) => ({ name, text, at })))
    .sort((a, b) => a.at.localeCompare(b.at))
    .slice(0, 6);
  const list = useSteady('next runs', next, ({ name, at }) => name + at);
  return (
    <div {...list.box}>
      <div class="line heading">
        <h2>{OVERVIEW.nextRuns}</h2>
        <ShowNew of={list} noun="run" />
      </div>
      {next.length === 0 ? (
        <Cli text="queuectl schedule add nightly --cron '30 2 * * *' 'make backup'" />
      ) : (
        <ul class="strip">
          {list.rows.map(({ name, text, at }) => (
            <li key={name + at}>
              <a href={`/schedules/${part(name)}`} title={sentence(text)}>
                {visible(name)}
              </a>
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
