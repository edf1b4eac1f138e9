import { attempt } from '../acts.ts';
import { part, send } from '../api.ts';
import { ask } from '../asking.ts';
import { command } from '../cli.ts';
import { Empty, Trouble } from '../components/empty.tsx';
import { LastRuns } from '../components/last-runs.tsx';
import { Ago, Time } from '../components/time.tsx';
import { useData } from '../data.ts';
import { duration, visible } from '../format.ts';
import { go, place } from '../router.ts';
import { readOnly } from '../store.ts';
import type { Job, Schedule } from '../types.ts';

export function SchedulesPage() {
  const found = useData<Schedule[]>('/schedules', {
    on: ({ kind }) => kind.startsWith('schedule') || kind === 'tick',
  });
  const wanted = place.value.query.get('name');
  if (found.value === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  const shown = found.value.filter(({ name }) => wanted === null || name === wanted);
  return (
    <section aria-label="Schedules">
      <h1 class="hidden">Schedules</h1>
      {wanted === null ? null : (
        <p class="line">
          <a class="button small" href="/schedules">
            All schedules
          </a>
        </p>
      )}
      {shown.length === 0 ? (
        <Empty
          text="There is no schedule. One that runs every night:"
          cli="queuectl schedule add nightly --cron '30 2 * * *' 'make backup'"
        />
      ) : null}
      {shown.map((schedule) => (
        <Card key={schedule.name} {...schedule} />
      ))}
    </section>
  );
}

async function runNow(name: string): Promise<void> {
  let job: Job | null = null;
  const done = await attempt(async () => {
    job = await send<Job>('POST', `/schedules/${part(name)}/run`);
  }, `A job of ${name} is enqueued`);
  if (done && job !== null) go(`/jobs/${part((job as Job).id)}`);
}

async function remove(name: string): Promise<void> {
  const yes = await ask({
    ...{ title: `Remove schedule ${name}?`, detail: 'No more jobs are made. Those that were made stay.' },
    ...{ cli: command('schedule', 'remove', name), button: 'Remove', danger: true, word: null },
  });
  if (yes) await attempt(() => send('DELETE', `/schedules/${part(name)}`), `Schedule ${name} is gone`);
}

function Card(schedule: Schedule) {
  const { name, paused, next_runs, last_run_at, last_job_id } = schedule;
  const setPaused = (to: boolean): Promise<boolean> =>
    attempt(
      () => send('PATCH', `/schedules/${part(name)}`, { paused: to }),
      `Schedule ${name} ${to ? 'is paused' : 'goes on'}`,
    );
  return (
    <article class="group" data-row={name}>
      <header>
        <h2>
          <a href={`/schedules?name=${part(name)}`}>{visible(name)}</a>
        </h2>
        {paused ? (
          <span class="tag warn" title={`by ${schedule.paused_by}`}>
            paused <Ago at={schedule.paused_at} />
          </span>
        ) : null}
        {readOnly.value ? null : (
          <span class="buttons">
            <button type="button" class="small" onClick={() => void runNow(name)}>
              Run now
            </button>
            <button type="button" class="small" onClick={() => void setPaused(!paused)}>
              {paused ? 'Resume' : 'Pause'}
            </button>
            <button type="button" class="small danger-text" onClick={() => void remove(name)}>
              Remove
            </button>
          </span>
        )}
      </header>
      <p class="facts">
        <span>
          <code>{timing(schedule)}</code>
        </span>
        <span>
          <code>{visible(schedule.command)}</code>
        </span>
        <span>in {visible(schedule.queue)}</span>
        <span>overlap {schedule.overlap}</span>
        <span>catch up {schedule.catch_up}</span>
        {schedule.waiting > 0 ? <span>{schedule.waiting} ticks wait</span> : null}
      </p>
      <p class="facts">
        {next_runs.length === 0 ? null : (
          <span>
            next <Time at={next_runs[0]!} /> (<Ago at={next_runs[0]!} />)
          </span>
        )}
        {next_runs.slice(1).map((at) => (
          <span key={at}>
            <Time at={at} />
          </span>
        ))}
        {last_run_at === null ? null : (
          <span>
            last <Ago at={last_run_at} />
            {last_job_id === null ? null : (
              <>
                {' '}
                as <a href={`/jobs/${part(last_job_id)}`}>{last_job_id}</a>
              </>
            )}
          </span>
        )}
      </p>
      <LastRuns name={name} />
    </article>
  );
}

function timing({ cron, timezone, every_ms }: Schedule): string {
  return cron === null ? `every ${duration(every_ms)}` : `${cron} ${timezone}`;
}
