import { useSignal } from '@preact/signals';
import { part, send } from '../frame/api.ts';
import { editing } from '../frame/overlays.ts';
import { Cli } from '../parts/copy.tsx';
import { Dialog } from '../parts/dialog.tsx';
import type { Job } from '../types.ts';
import { JOB_FORM } from '../words/job.ts';
import { ACTING, ACTIONS } from '../words/jobs.ts';
import { SHARED } from '../words/shared.ts';
import { runAction } from './acts.ts';
import { CHANGEABLE, type Changeable, changesOf, editableFields, editCommand } from './changes.ts';

const FIELDS = (Object.keys(CHANGEABLE) as Changeable[]).filter((field) => field !== 'command');

const close = (): void => {
  editing.value = null;
};

/** Edits a waiting job. Only fields that differ from the job when the form was opened are sent. */
export function EditJob({ job }: { job: Job }) {
  const before = editableFields(job);
  const after = useSignal(before);
  const changes = changesOf(before, after.value);
  const set = (field: Changeable) => (event: { currentTarget: { value: string } }) => {
    after.value = { ...after.value, [field]: event.currentTarget.value };
  };
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    const sent = () => send('PATCH', `/jobs/${part(job.id)}`, changes);
    if (await runAction(sent, ACTING.done(job.id, ACTIONS.edit.past))) close();
  };
  return (
    <Dialog label={JOB_FORM.editTitle(job.id)} class="drawer" onClose={close}>
      <form onSubmit={(event) => void submit(event)}>
        <h2>{JOB_FORM.editTitle(job.id)}</h2>
        {job.argv === null ? (
          <label class="field">
            {SHARED.command}
            <textarea rows={3} spellcheck={false} value={after.value.command} onInput={set('command')} />
          </label>
        ) : null}
        {FIELDS.map((field) => (
          <label key={field} class="field">
            {CHANGEABLE[field].label}
            <input
              value={after.value[field]}
              placeholder={CHANGEABLE[field].hint}
              autocomplete="off"
              spellcheck={false}
              onInput={set(field)}
            />
          </label>
        ))}
        <p class="label">{SHARED.commandLine}</p>
        <Cli text={editCommand(job.id, before, after.value)} />
        <div class="buttons">
          <button type="button" onClick={close}>
            {SHARED.cancel}
          </button>
          <button type="submit" class="primary" disabled={Object.keys(changes).length === 0}>
            {SHARED.save}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
