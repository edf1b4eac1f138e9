import type { App } from '../../actions/app.ts';
import type { JobActionResult } from '../../actions/jobs/act.ts';
import { getJob, jobObject } from '../../actions/jobs/jobs.ts';
import { type ParsedJobs, readJsonJobs } from '../../actions/jobs/parse-jobs.ts';
import { notRetryableHint } from '../../actions/jobs/retry.ts';
import { QueueError, usageError } from '../../core/errors.ts';
import { KEPT_FIELDS, printedSchema } from '../../core/jobs/field-list.ts';
import { changesOf, isEditable, type JobChanges } from '../../core/jobs/job-changes.ts';
import { attemptsAllowed } from '../../core/rules/decide.ts';
import { readEndSignal } from '../../core/signals.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { editText } from '../../exec/user-programs.ts';
import { untilEnded } from '../../worker/recovery.ts';
import { type Context, type Input, inGroup } from '../frame/command.ts';
import { type ActionCall, jobActionCommand } from '../frame/job-action-command.ts';
import { editFlags, readEditFlags } from '../frame/job-flags.ts';
import { noteLateSignals, noteWaitForHosts } from '../print/host-notes.ts';
import { warnAfterRetry, warnStartedAgain } from '../print/report-action.ts';
import { warnOfSecrets } from './enqueue.ts';

const warnOfLateHosts = ({ app, context }: ActionCall, { changed }: JobActionResult): Promise<void> =>
  noteLateSignals(context.io, app, changed);

const edit = jobActionCommand({
  verb: 'edit',
  summary: 'Edit jobs that are waiting to run',
  flags: inGroup('Changes', editFlags()),
  examples: [
    'queuectl edit job1 --priority high',
    'queuectl edit job1 --env REGION=eu --env DEBUG=1',
    '# Open the job in an editor',
    'queuectl edit job1',
    'queuectl edit --queue mail --set-queue slow --yes',
  ],
  notes: ['If you specify no changes, queuectl opens the job in $VISUAL or $EDITOR.'],
  async options({ app, ids, input, context }, isPreview) {
    const given = readChanges(input, context, app.clock.now());
    if (given === null && isPreview) editorFor(ids, context);
    const changes = given ?? (isPreview ? {} : await changesFromEditor(app, ids, context, app.clock.now()));
    return changes === null ? null : { changes, strict: ids.length === 1 };
  },
  async after({ context }, _, { changes }) {
    await warnOfSecrets(context.io, [changes?.env ? { env: changes.env } : {}]);
  },
});

function readChanges(input: Input, context: Context, now: number): JobChanges | null {
  const read = readEditFlags(input, context, now);
  return Object.keys(read).length === 0 ? null : changesOf(read);
}

function readEdited(text: string, id: string, now: number): ParsedJobs {
  try {
    return readJsonJobs(text, now);
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
    throw new QueueError(
      error.code,
      `${error.message}. Nothing was changed`,
      `to edit the job again: queuectl edit ${shellWord(id)}`,
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

const EDITABLE = KEPT_FIELDS.filter(isEditable);

export default {
  cancel: jobActionCommand({
    verb: 'cancel',
    summary: 'Cancel jobs, and stop them if they are running',
    flags: {
      signal: {
        value: 'SIGNAL',
        help: 'first signal for running jobs, such as INT (default: TERM); SIGKILL follows after kill-grace',
      },
    },
    examples: [
      'queuectl cancel job1',
      'queuectl cancel job1 --signal INT',
      'queuectl cancel @last',
      'queuectl cancel --state pending --queue mail --yes',
    ],
    async options({ input, context, app }) {
      const given = input.one('signal');
      return {
        untilEnded: (_, ids) => untilEnded(app, ids, (jobs) => noteWaitForHosts(context.io, app, jobs)),
        signal: given === undefined ? undefined : readEndSignal(given, '--signal'),
      };
    },
  }),
  retry: jobActionCommand({
    verb: 'retry',
    summary: 'Retry dead, cancelled or failed jobs now',
    examples: ['queuectl retry job1', 'queuectl retry --queue mail --yes'],
    notes: [
      'Filters skip a job that was enqueued with --at-most-once and has already started. To retry such a job, use its id.',
      'If a job fails, the jobs that depend on it (--after) are cancelled by default. If you retry only the cancelled job, it no longer waits for the failed one. If you retry both, they run in order.',
    ],
    hint: async (app, id) => notRetryableHint(id, (await getJob(app, id)).state),
    options: async ({ input }) => ({ bulk: input.args.length === 0 }),
    async after({ app, context: { io } }, { changed, retriedAtMostOnce = [] }) {
      warnStartedAgain(io, retriedAtMostOnce);
      await warnAfterRetry(io, app, changed);
    },
  }),
  delete: jobActionCommand({
    verb: 'delete',
    summary: 'Delete jobs and their output permanently',
    examples: ['queuectl delete job1', 'queuectl delete --queue mail --yes'],
  }),
  edit,
  hold: jobActionCommand({
    verb: 'hold',
    summary: 'Hold waiting jobs until you release them',
    examples: ['queuectl hold job1', 'queuectl hold --queue mail --yes'],
  }),
  release: jobActionCommand({
    verb: 'release',
    summary: 'Release held jobs so that they can start',
    examples: ['queuectl release job1', 'queuectl release --queue mail --yes'],
  }),
  suspend: jobActionCommand({
    verb: 'suspend',
    summary: 'Suspend running jobs (SIGSTOP)',
    examples: ['queuectl suspend job1', 'queuectl suspend --queue mail --state running --yes'],
    after: warnOfLateHosts,
  }),
  continue: jobActionCommand({
    verb: 'continue',
    summary: 'Resume suspended jobs (SIGCONT)',
    examples: ['queuectl continue job1', 'queuectl continue --queue mail --state running --yes'],
    after: warnOfLateHosts,
  }),
};
