import { useSignal } from '@preact/signals';
import { Problem, part, send } from '../frame/api.ts';
import { draft } from '../frame/overlays.ts';
import { go } from '../frame/router.ts';
import { Dialog } from '../parts/dialog.tsx';
import { FormEnd, QueueNames } from '../parts/form-end.tsx';
import { notify } from '../parts/toasts.ts';
import type { Job } from '../types.ts';
import { JOB_FORM } from '../words/job.ts';
import { SHARED } from '../words/shared.ts';
import { bodyOf, commandOf, type Draft } from './draft.ts';

const close = (): void => {
  draft.value = null;
};

export function NewJob() {
  return draft.value === null ? null : <Form start={draft.value} />;
}

type Field = Exclude<keyof Draft, 'rest' | 'command' | 'tags' | 'env'>;
const FIELDS: [Field, string, string][] = [
  ['name', SHARED.name, JOB_FORM.nameHint],
  ['queue', SHARED.queue, JOB_FORM.queueHint],
  ['priority', SHARED.priority, SHARED.priorityHint],
  ['delay', JOB_FORM.delay, JOB_FORM.delayHint],
  ['timeout', SHARED.timeout, SHARED.timeoutHint],
  ['max-retries', SHARED.maxAttempts, SHARED.fromSettings],
  ['cwd', SHARED.workingDirectory, JOB_FORM.directoryHint],
  ['unique', JOB_FORM.uniqueKey, JOB_FORM.uniqueKeyHint],
];

function Form({ start }: { start: Draft }) {
  const job = useSignal(start);
  const wrong = useSignal<Problem | null>(null);
  const set = (field: keyof Draft) => (event: { currentTarget: { value: string } }) => {
    job.value = { ...job.value, [field]: event.currentTarget.value };
    wrong.value = null;
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      const added = await send<Job>('POST', '/jobs', bodyOf(job.value));
      close();
      notify(added.existing ? JOB_FORM.existing(added.id) : JOB_FORM.enqueued(added.id));
      go(`/jobs/${part(added.id)}`);
    } catch (error) {
      wrong.value = error instanceof Problem ? error : new Problem(0, 'unexpected', String(error));
    }
  };
  return (
    <Dialog label={JOB_FORM.newTitle} class="drawer" onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        <h2>{JOB_FORM.newTitle}</h2>
        <label class="field">
          {SHARED.command}
          <textarea
            rows={3}
            required
            spellcheck={false}
            readOnly={job.value.rest.argv !== undefined}
            value={job.value.command}
            onInput={set('command')}
          />
        </label>
        <div class="fields">
          {FIELDS.map(([field, label, hint]) => (
            <label key={field} class="field">
              {label}
              <input
                value={job.value[field]}
                placeholder={hint}
                autocomplete="off"
                list={field === 'queue' ? 'queue-names' : undefined}
                onInput={set(field)}
              />
            </label>
          ))}
          <label class="field">
            {JOB_FORM.tags}
            <textarea rows={2} placeholder={JOB_FORM.tagsHint} value={job.value.tags} onInput={set('tags')} />
          </label>
          <label class="field">
            {JOB_FORM.environment}
            <textarea
              rows={2}
              placeholder={JOB_FORM.environmentHint}
              value={job.value.env}
              onInput={set('env')}
            />
          </label>
        </div>
        <QueueNames id="queue-names" />
        <FormEnd
          cli={commandOf(job.value)}
          wrong={wrong.value}
          ready={job.value.command.trim() !== ''}
          onCancel={close}
        >
          {JOB_FORM.enqueue}
        </FormEnd>
      </form>
    </Dialog>
  );
}
