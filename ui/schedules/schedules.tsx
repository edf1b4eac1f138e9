import { part } from '../frame/api.ts';
import { useData } from '../frame/data.ts';
import { scheduling } from '../frame/overlays.ts';
import { go, place } from '../frame/router.ts';
import { readOnly } from '../frame/store.ts';
import { Empty, Trouble } from '../parts/empty.tsx';
import { Fill } from '../parts/fill.tsx';
import { plural, sentence, visible } from '../parts/format.ts';
import { PausedTag } from '../parts/head.tsx';
import { Icon } from '../parts/icon.tsx';
import { ShowNew } from '../parts/show-new.tsx';
import { useSteady } from '../parts/steady.ts';
import { Ago, Time } from '../parts/time.tsx';
import type { Schedule } from '../types.ts';
import { PAGE_TITLES } from '../words/frame.ts';
import { SCHEDULES } from '../words/schedules.ts';
import { SHARED } from '../words/shared.ts';
import { LastRuns } from './last-runs.tsx';
import { ScheduleButtons } from './schedule-buttons.tsx';
import { ofSchedules } from './schedule-events.ts';

export function SchedulesPage() {
  const found = useData<Schedule[]>('/schedules', { on: ofSchedules });
  const list = useSteady('schedules', found.value ?? [], ({ name }) => name);
  const wanted = place.value.query.get('name');
  if (wanted !== null) {
    go(`/schedules/${part(wanted)}`, 'replace');
    return null;
  }
  if (found.value === null) return found.problem === null ? null : <Trouble problem={found.problem} />;
  return (
    <section aria-label={PAGE_TITLES.schedules} {...list.box}>
      <h1 class="hidden">{PAGE_TITLES.schedules}</h1>
      <p class="line">
        <span class="faint">{plural(found.value.length, 'schedule')}</span>
        <ShowNew of={list} noun="schedule" />
        <span class="grow" />
        {readOnly.value ? null : (
          <button
            type="button"
            onClick={() => {
              scheduling.value = 'new';
            }}
          >
            <Icon name="plus" />
            {SCHEDULES.create}
          </button>
        )}
      </p>
      {found.value.length === 0 ? (
        <Empty text={SCHEDULES.none} cli="queuectl schedule add nightly --cron '30 2 * * *' 'make backup'" />
      ) : null}
      {list.rows.map((schedule) => (
        <Card key={schedule.name} schedule={schedule} isGone={list.gone.has(schedule.name)} />
      ))}
    </section>
  );
}

function Card({ schedule, isGone }: { schedule: Schedule; isGone: boolean }) {
  const { name, cron, timezone, next_runs, last_run_at, waiting } = schedule;
  return (
    <article
      class={isGone ? 'schedule gone' : 'schedule'}
      data-row={name}
      title={isGone ? SHARED.gone : undefined}
    >
      <header>
        <h2>
          <a href={`/schedules/${part(name)}`}>{visible(name)}</a>
        </h2>
        <PausedTag {...schedule} />
        {readOnly.value ? null : (
          <span class="buttons">
            <ScheduleButtons schedule={schedule} small />
          </span>
        )}
      </header>
      <p>
        {sentence(schedule.text)}
        {cron === null ? null : (
          <span class="faint">
            {' '}
            <code>{cron}</code> {timezone}
          </span>
        )}
      </p>
      <p class="facts">
        <span>
          <code>{visible(schedule.command)}</code>
        </span>
        <span>
          <Fill
            text={SCHEDULES.queue}
            queue={<a href={`/queues/${part(schedule.queue)}`}>{visible(schedule.queue)}</a>}
          />
        </span>
        {next_runs.length === 0 ? null : (
          <span>
            <Fill
              text={SCHEDULES.next}
              time={<Time at={next_runs[0]!} />}
              when={<Ago at={next_runs[0]!} />}
            />
          </span>
        )}
        {last_run_at === null ? null : (
          <span>
            <Fill text={SCHEDULES.last} when={<Ago at={last_run_at} />} />
          </span>
        )}
        {waiting > 0 ? <span class="tag warn">{SCHEDULES.waiting(plural(waiting, 'run'))}</span> : null}
      </p>
      <LastRuns name={schedule.job.name} />
    </article>
  );
}
