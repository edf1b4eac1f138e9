import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get, Problem, part, send } from '../frame/api.ts';
import { refresh } from '../frame/live.ts';
import { scheduling } from '../frame/overlays.ts';
import { go } from '../frame/router.ts';
import { Dialog } from '../parts/dialog.tsx';
import { FormEnd, QueueNames } from '../parts/form-end.tsx';
import { sentence } from '../parts/format.ts';
import { notify } from '../parts/toasts.ts';
import type { Schedule, Times } from '../types.ts';
import { SCHEDULE_FORM as FORM, MISSED, OVERLAP } from '../words/schedules.ts';
import { SHARED } from '../words/shared.ts';
import { NextTimes } from './next-times.tsx';
import {
  bodyOf,
  commandOf,
  isChanged,
  type ScheduleDraft,
  scheduleDraftOf,
  timesQuery,
} from './schedule-draft.ts';

const close = (): void => {
  scheduling.value = null;
};

export function ScheduleForm() {
  return scheduling.value === null ? null : <Form schedule={scheduling.value} />;
}

const JOB_FIELDS = [
  ['queue', SHARED.queue, FORM.queueHint],
  ['priority', SHARED.priority, SHARED.priorityHint],
  ['max_retries', SHARED.maxAttempts, SHARED.fromSettings],
  ['timeout', SHARED.timeout, SHARED.timeoutHint],
] as const;

const problemOf = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(0, 'unexpected', String(error));

/** Edits or creates a schedule. Only fields that differ from the schedule when the form was opened are sent. */
function Form({ schedule }: { schedule: Schedule | 'new' }) {
  const start = scheduleDraftOf(schedule);
  const before = schedule === 'new' ? null : start;
  const now = useSignal(start);
  const isInterval = useSignal(start.every !== '');
  const wrong = useSignal<Problem | null>(null);
  const set = (field: keyof ScheduleDraft, value: string): void => {
    now.value = { ...now.value, [field]: value };
    wrong.value = null;
  };
  const field = (name: keyof ScheduleDraft) => ({
    value: now.value[name],
    autocomplete: 'off' as const,
    spellcheck: false,
    onInput: (event: { currentTarget: { value: string } }) => set(name, event.currentTarget.value),
  });
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const path = before === null ? '/schedules' : `/schedules/${part(before.name)}`;
      const body = bodyOf(before, now.value);
      const { name } = await send<Schedule>(before === null ? 'POST' : 'PATCH', path, body);
      close();
      notify(before === null ? FORM.created(name) : FORM.changed(name));
      refresh();
      go(`/schedules/${part(name)}`);
    } catch (error) {
      wrong.value = problemOf(error);
    }
  };
  const title = before === null ? FORM.newTitle : FORM.editTitle(before.name);
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
            {SHARED.name}
            <input {...field('name')} placeholder={FORM.nameHint} autofocus />
          </label>
        ) : null}
        <fieldset class="choice">
          <legend>{FORM.kind}</legend>
          {[false, true].map((one) => (
            <label key={String(one)}>
              <input
                type="radio"
                name="kind"
                checked={isInterval.value === one}
                onChange={() => {
                  isInterval.value = one;
                  now.value = {
                    ...now.value,
                    every: one ? start.every || '1h' : '',
                    cron: one ? '' : start.cron || '0 3 * * *',
                  };
                }}
              />{' '}
              {one ? FORM.interval : FORM.cron}
            </label>
          ))}
        </fieldset>
        {isInterval.value ? (
          <label class="field">
            {FORM.every}
            <input {...field('every')} placeholder={FORM.everyHint} />
          </label>
        ) : (
          <div class="fields">
            <label class="field">
              {FORM.expression}
              <input {...field('cron')} class="code" placeholder={FORM.expressionHint} />
            </label>
            <label class="field">
              {FORM.timeZone}
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
          {SHARED.command}
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
        </div>
        <Choice label={FORM.overlap} options={OVERLAP} {...field('overlap')} />
        <Choice label={FORM.missed} options={MISSED} {...field('catch_up')} />
        <QueueNames id="schedule-queues" />
        <FormEnd cli={commandOf(before, now.value)} wrong={wrong.value} ready={ready} onCancel={close}>
          {before === null ? FORM.create : SHARED.save}
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

/** Shows the next runs, or the problem with them, while the user types. */
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
        <p class="wrong">{sentence(wrong.value.message)}</p>
      ) : times.value === null ? null : (
        <>
          <p>
            <b>{sentence(times.value.text)}</b>
          </p>
          <NextTimes {...times.value} />
        </>
      )}
    </div>
  );
}
