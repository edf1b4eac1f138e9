import { useSignal } from '@preact/signals';
import { command } from '../frame/cli.ts';
import { limiting } from '../frame/overlays.ts';
import { Cli } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { visible } from '../parts/format.ts';
import type { Queue } from '../types.ts';
import { LIMITS } from '../words/queues.ts';
import { SHARED } from '../words/shared.ts';
import { setLimits } from './queue-acts.ts';

const FIELDS = ['concurrency', 'rate'] as const;

const close = (): void => {
  limiting.value = null;
};

export function LimitsEditor() {
  return limiting.value === null ? null : <Form queue={limiting.value} />;
}

/** Edits the limits of a queue. Only limits that differ from the queue when the form was opened are sent. */
function Form({ queue }: { queue: Queue }) {
  const start = {
    concurrency: queue.concurrency === null ? '' : String(queue.concurrency),
    rate: queue.rate ?? '',
  };
  const now = useSignal<Record<string, string>>(start);
  const changed = FIELDS.filter((field) => now.value[field] !== start[field]);
  const flags = changed.flatMap((field) => [`--${field}`, now.value[field] || 'none']);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const limits = Object.fromEntries(changed.map((field) => [field, now.value[field]?.trim() || null]));
    if (changed.length === 0 || (await setLimits(queue.name, limits))) close();
  };
  return (
    <Dialog label={LIMITS.title(queue.name)} class="confirm" onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        <h2>{LIMITS.title(visible(queue.name))}</h2>
        {FIELDS.map((field) => (
          <label key={field} class="field">
            {LIMITS[field]}
            <input
              value={now.value[field]}
              placeholder={LIMITS[`${field}Hint`]}
              autocomplete="off"
              onInput={(event) => {
                now.value = { ...now.value, [field]: event.currentTarget.value };
              }}
            />
          </label>
        ))}
        <Cli text={command('queue', 'set', queue.name, ...flags)} />
        <div class="buttons">
          <button type="button" onClick={close}>
            {SHARED.cancel}
          </button>
          <button type="submit" class="primary" disabled={changed.length === 0}>
            {SHARED.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
