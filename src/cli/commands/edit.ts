import type { App } from '../../actions/app.ts';
import { editJob, editJobs, previewEdit } from '../../actions/edit.ts';
import { getJob, jobObject } from '../../actions/jobs.ts';
import { type ReadJobs, readJsonJobs } from '../../actions/read-jobs.ts';
import { attemptsAllowed } from '../../core/decide.ts';
import { QueueError, usageError } from '../../core/errors.ts';
import { KEPT_FIELDS, printedSchema } from '../../core/field-list.ts';
import { changesOf, isEditable, type JobChanges } from '../../core/job-changes.ts';
import { editText } from '../../exec/editor.ts';
import { type Context, type Input, inGroup } from '../command.ts';
import { jobActionCommand } from '../job-action-command.ts';
import { editFlags, readEditFlags } from '../job-flags.ts';
import { warnOfSecrets } from '../warn-of-secrets.ts';

export default jobActionCommand({
  name: 'edit',
  summary: 'Edit jobs that are waiting to run',
  participle: 'changed',
  flags: inGroup('Changes', editFlags()),
  examples: [
    'queuectl edit job1 --priority high',
    'queuectl edit job1 --env REGION=eu --env DEBUG=1',
    '# Open the job in an editor',
    'queuectl edit job1',
    'queuectl edit --queue mail --set-queue slow --yes',
  ],
  notes: ['If you specify no changes, queuectl opens the job in $VISUAL or $EDITOR.'],
  async preview(app, ids, input, context) {
    const changes = readChanges(input, context, app.clock.now());
    if (changes === null) editorFor(ids, context);
    return previewEdit(app, ids, changes ?? {});
  },
  async act(app, ids, input, context) {
    const now = app.clock.now();
    const changes = readChanges(input, context, now) ?? (await changesFromEditor(app, ids, context, now));
    if (changes === null) return null;
    const acted = await (ids.length === 1 ? editJob(app, ids[0]!, changes) : editJobs(app, ids, changes));
    const { command, env } = changes;
    await warnOfSecrets(context.io, [{ ...(command && { command }), ...(env && { env }) }]);
    return acted;
  },
});

function readChanges(input: Input, context: Context, now: number): JobChanges | null {
  const read = readEditFlags(input, context, now);
  return Object.keys(read).length === 0 ? null : changesOf(read);
}

function readEdited(text: string, id: string, now: number): ReadJobs {
  try {
    return readJsonJobs(text, now);
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
    throw new QueueError(
      error.code,
      `${error.message}. Nothing was changed`,
      `to edit the job again: queuectl edit ${id}`,
    );
  }
}

/** Returns the job to edit in an editor, and the editor. Throws if there is none, or several jobs. */
function editorFor(ids: string[], { environment }: Context): { id: string; editor: string } {
  const editor = environment.VISUAL || environment.EDITOR;
  const [id] = ids;
  if (id !== undefined && ids.length === 1 && editor) return { id, editor };
  throw editor
    ? usageError(
        'only one job at a time can be edited in an editor',
        'to change several jobs, use flags such as --priority high',
      )
    : usageError(
        'no changes given',
        'use a flag such as --priority high, or set $EDITOR to edit one job in an editor',
      );
}

/** Opens the editable fields of a job in an editor, and reads the changes. Returns null if nothing was changed. */
async function changesFromEditor(
  app: App,
  ids: string[],
  context: Context,
  now: number,
): Promise<JobChanges | null> {
  const { id, editor } = editorFor(ids, context);
  const job = await getJob(app, id);
  const object = {
    ...(await jobObject(app, job)),
    max_retries: Math.min(job.maxRetries, attemptsAllowed(job)),
  };
  const shown = Object.entries(object).filter(([name]) => EDITABLE.some((field) => field.name === name));
  const before = JSON.stringify(Object.fromEntries(shown), null, 2);
  const after = editText(`${before}\n`, editor);
  if (after === null)
    throw new QueueError('editor-failed', `the editor '${editor}' failed. Nothing was changed`);
  const { inputs } = readEdited(after, id, now);
  if (JSON.stringify(JSON.parse(after)) === JSON.stringify(JSON.parse(before))) return null;
  const edited = JSON.parse(after) as Record<string, unknown>;
  // An optional field that is null or missing is cleared, except for the start time, which most jobs do not have.
  const cleared = EDITABLE.filter(
    (field) => edited[field.name] == null && 'anyOf' in printedSchema(field) && field.name !== 'run_at',
  );
  return { ...changesOf(inputs[0]!), ...Object.fromEntries(cleared.map(({ key }) => [key, null])) };
}

/** The editable fields of a printed job. */
const EDITABLE = KEPT_FIELDS.filter(isEditable);
