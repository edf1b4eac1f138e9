import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, Problem, part, send } from '../api.ts';
import { refresh } from '../live.ts';
import { scheduling } from '../overlays.ts';
import { go } from '../router.ts';
import {
  bodyOf,
  commandOf,
  isChanged,
  type ScheduleDraft,
  timesQuery,
  writtenOf,
} from '../schedule-draft.ts';
import { tell } from '../toasts.ts';
import type { Schedule, Times } from '../types.ts';
import { Dialog } from './dialog.tsx';
import { FormEnd, QueueNames } from './form-end.tsx';
import { NextTimes } from './next-times.tsx';

const close = (): void => {
  scheduling.value = null;
};

export function ScheduleForm() {
  return scheduling.value === null ? null : <Form schedule={scheduling.value} />;
}

const JOB_FIELDS = [
  ['queue', 'Queue', 'default'],
  ['priority', 'Priority', '0; or low, high, urgent'],
  ['max_retries', 'Executions in all', 'as set'],
  ['timeout', 'Timeout', '30s, 5m'],
] as const;

const OVERLAP = {
  skip: 'skip the tick',
  queue: 'run it when the job is over',
  allow: 'run both',
};
const CATCH_UP = { none: 'none of them', one: 'the last one', all: 'all of them' };

const problemOf = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(0, 'unexpected', String(error));

/** What it was when the form was opened is what a change is measured by. */
function Form({ schedule }: { schedule: Schedule | 'new' }) {
  const start = writtenOf(schedule);
  const before = schedule === 'new' ? null : start;
  const now = useSignal(start);
  const evenly = useSignal(start.every !== '');
  const wrong = useSignal<Problem | null>(null);
  const set = (field: keyof ScheduleDraft, value: string): void => {
    now.value = { ...now.value, [field]: value };
    wrong.value = null;
  };
  const field = (name: keyof ScheduleDraft) => ({
    value: now.value[name],
    ...{ autocomplete: 'off' as const, spellcheck: false },
    onInput: (event: { currentTarget: { value: string } }) => set(name, event.currentTarget.value),
  });
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const path = before === null ? '/schedules' : `/schedules/${part(before.name)}`;
      const body = bodyOf(before, now.value);
      const { name } = await send<Schedule>(before === null ? 'POST' : 'PATCH', path, body);
      close();
      tell(`Schedule ${name} is ${before === null ? 'added' : 'changed'}`);
      refresh();
      go(`/schedules/${part(name)}`);
    } catch (error) {
      wrong.value = problemOf(error);
    }
  };
  const title = before === null ? 'New schedule' : `Edit schedule ${before.name}`;
  const ready =
    before === null
      ? now.value.name.trim() !== '' && now.value.command.trim() !== ''
      : isChanged(before, now.value);
  return (
    <Dialog label={title} class="drawer" onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        <h2>{title}</h2>
        {before === null ? (
          <label class="field">
            Name
            <input {...field('name')} placeholder="nightly" autofocus />
          </label>
        ) : null}
        <fieldset class="choice">
          <legend>When</legend>
          {[false, true].map((one) => (
            <label key={String(one)}>
              <input
                type="radio"
                name="kind"
                checked={evenly.value === one}
                onChange={() => {
                  evenly.value = one;
                  now.value = {
                    ...now.value,
                    every: one ? start.every || '1h' : '',
                    cron: one ? '' : start.cron || '0 3 * * *',
                  };
                }}
              />{' '}
              {one ? 'evenly' : 'by the calendar'}
            </label>
          ))}
        </fieldset>
        {evenly.value ? (
          <label class="field">
            Every
            <input {...field('every')} placeholder="90s, 5m, 1h" />
          </label>
        ) : (
          <div class="fields">
            <label class="field">
              Cron: minute hour day month weekday
              <input {...field('cron')} class="code" />
            </label>
            <label class="field">
              Time zone
              <input {...field('timezone')} list="zones" />
            </label>
            <datalist id="zones">
              {Intl.supportedValuesOf('timeZone').map((zone) => (
                <option key={zone} value={zone} />
              ))}
            </datalist>
          </div>
        )}
        <Preview query={timesQuery(now.value)} />
        <label class="field">
          Command
          <textarea {...field('command')} rows={2} readOnly={schedule !== 'new' && schedule.argv !== null} />
        </label>
        <div class="fields">
          {JOB_FIELDS.map(([name, label, hint]) => (
            <label key={name} class="field">
              {label}
              <input
                {...field(name)}
                placeholder={hint}
                list={name === 'queue' ? 'schedule-queues' : undefined}
              />
            </label>
          ))}
          <Choice label="While its last job is unfinished" options={OVERLAP} {...field('overlap')} />
          <Choice label="Of what was missed, make up for" options={CATCH_UP} {...field('catch_up')} />
        </div>
        <QueueNames id="schedule-queues" />
        <FormEnd cli={commandOf(before, now.value)} wrong={wrong.value} ready={ready} onCancel={close}>
          {before === null ? 'Add' : 'Change'}
        </FormEnd>
      </form>
    </Dialog>
  );
}

interface ChoiceProps {
  label: string;
  options: Record<string, string>;
  value: string;
  onInput(event: { currentTarget: { value: string } }): void;
}

function Choice({ label, options, value, onInput }: ChoiceProps) {
  return (
    <label class="field">
      {label}
      <select value={value} onInput={onInput}>
        {Object.entries(options).map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}

const TYPING_MS = 150;

/** The next times while they are typed; what is wrong with them, before anything is sent. */
function Preview({ query }: { query: string | null }) {
  const times = useSignal<Times | null>(null);
  const wrong = useSignal<Problem | null>(null);
  useEffect(() => {
    if (query === null) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get<Times>(query, stop.signal).then(
        (found) => {
          times.value = found;
          wrong.value = null;
        },
        (error) => {
          if (!stop.signal.aborted) wrong.value = problemOf(error);
        },
      );
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [query]);
  return (
    <div class="preview" aria-live="polite">
      {wrong.value !== null ? (
        <p class="wrong">{wrong.value.message}</p>
      ) : times.value === null ? null : (
        <>
          <p>
            <b>{times.value.text}</b>
          </p>
          <NextTimes {...times.value} />
        </>
      )}
    </div>
  );
}
