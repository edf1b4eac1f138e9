import { useSignal } from '@preact/signals';
import { Problem, part, send } from '../api.ts';
import { bodyOf, commandOf, type Draft } from '../draft.ts';
import { draft } from '../overlays.ts';
import { go } from '../router.ts';
import { tell } from '../toasts.ts';
import type { Job } from '../types.ts';
import { Dialog } from './dialog.tsx';
import { FormEnd, QueueNames } from './form-end.tsx';

const close = (): void => {
  draft.value = null;
};

export function NewJob() {
  return draft.value === null ? null : <Form start={draft.value} />;
}

type Field = Exclude<keyof Draft, 'rest' | 'command' | 'tags' | 'env'>;
const FIELDS: [Field, string, string][] = [
  ['name', 'Name', 'what kind of job this is'],
  ['queue', 'Queue', 'default'],
  ['priority', 'Priority', '0; or low, high, urgent'],
  ['delay', 'Not before, from now', '10m'],
  ['timeout', 'Timeout', '30s, 5m; by the settings'],
  ['max-retries', 'Executions in all', 'by the settings'],
  ['cwd', 'Directory', 'home'],
  ['unique', 'Unique key', 'no second one while it lives'],
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
      tell(added.existing ? `Job ${added.id} has this unique key already` : `Job ${added.id} is enqueued`);
      go(`/jobs/${part(added.id)}`);
    } catch (error) {
      wrong.value = error instanceof Problem ? error : new Problem(0, 'unexpected', String(error));
    }
  };
  return (
    <Dialog label="New job" class="drawer" onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        <h2>New job</h2>
        <label class="field">
          Command
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
            Tags, one a line
            <textarea rows={2} placeholder="customer=42" value={job.value.tags} onInput={set('tags')} />
          </label>
          <label class="field">
            Environment, one a line
            <textarea rows={2} placeholder="NAME=value" value={job.value.env} onInput={set('env')} />
          </label>
        </div>
        <QueueNames id="queue-names" />
        <FormEnd
          cli={commandOf(job.value)}
          wrong={wrong.value}
          ready={job.value.command.trim() !== ''}
          onCancel={close}
        >
          Enqueue
        </FormEnd>
      </form>
    </Dialog>
  );
}
