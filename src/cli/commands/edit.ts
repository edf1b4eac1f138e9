import { editJob, editJobs } from '../../actions/act.ts';
import type { App } from '../../actions/app.ts';
import { getJob } from '../../actions/jobs.ts';
import { type ReadJobs, readJsonJobs } from '../../actions/read-jobs.ts';
import { attemptsAllowed } from '../../core/decide.ts';
import { QueueError } from '../../core/errors.ts';
import { readTag } from '../../core/filter.ts';
import type { JobChanges } from '../../core/job-changes.ts';
import { changesOf } from '../../core/job-changes.ts';
import { readJobObject } from '../../core/job-input.ts';
import { toJobObject } from '../../core/job-object.ts';
import { editText } from '../../exec/editor.ts';
import { actingCommand } from '../act.ts';
import { type Context, type Input, inGroup } from '../command.ts';
import { JOB_FLAGS } from '../job-flags.ts';

const { priority, timeout, 'run-at': runAt, 'max-retries': maxRetries } = JOB_FLAGS;

export default actingCommand({
  name: 'edit',
  summary: 'Edit jobs that have not started',
  done: 'changed',
  flags: inGroup('Changes', {
    priority: priority!,
    timeout: timeout!,
    'run-at': runAt!,
    'max-retries': maxRetries!,
    'set-queue': { value: 'NAME', help: 'move the job to this queue' },
    'set-name': { value: 'NAME', help: 'change the name' },
    'set-tag': { value: 'K=V', many: true, help: 'replace all tags; can be repeated' },
    command: { value: 'TEXT', short: 'c', help: 'replace the shell command' },
  }),
  examples: [
    'queuectl edit job1 --priority high',
    '# Open the job in an editor',
    'queuectl edit job1',
    'queuectl edit --queue mail --set-queue slow --yes',
  ],
  notes: ['Without a change, the job opens in $VISUAL or $EDITOR.'],
  async act(app, ids, input, context) {
    const now = app.clock.now();
    const changes = readChanges(input, now) ?? (await changesByHand(app, ids, context, now));
    if (changes === null) return null;
    return ids.length === 1 ? editJob(app, ids[0]!, changes) : editJobs(app, ids, changes);
  },
});

/** The same fields and rules as at enqueue; only the flags that choose jobs have other names here. */
function readChanges(input: Input, now: number): JobChanges | null {
  const object: Record<string, unknown> = {};
  const put = (flag: string, field: string, read: (text: string) => unknown = (text) => text): void => {
    const text = input.one(flag);
    if (text !== undefined) object[field] = read(text);
  };
  const number = (text: string): unknown => (/^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text);
  put('priority', 'priority', number);
  put('max-retries', 'max_retries', number);
  put('timeout', 'timeout');
  put('run-at', 'run_at');
  put('command', 'command');
  put('set-queue', 'queue');
  put('set-name', 'name');
  if (input.has('set-tag'))
    object.tags = Object.fromEntries(input.all('set-tag').map((tag) => readTag(tag, '--set-tag')));
  const { input: read } = readJobObject(object, now);
  return Object.keys(read).length === 0 ? null : changesOf(read);
}

function readEdited(text: string, id: string, now: number): ReadJobs {
  try {
    return readJsonJobs(text, now);
  } catch (error) {
    if (!(error instanceof QueueError)) throw error;
    throw new QueueError(error.code, `${error.message}. Nothing was changed`, `queuectl edit ${id}`);
  }
}

/** What can be changed, as a person sees it in an editor; read back by the rules of enqueueing. */
async function changesByHand(
  app: App,
  ids: string[],
  context: Context,
  now: number,
): Promise<JobChanges | null> {
  const { VISUAL, EDITOR } = context.environment;
  const editor = VISUAL || EDITOR;
  const [id] = ids;
  if (id === undefined || ids.length > 1 || !editor) {
    const problem = editor
      ? 'only one job at a time can be edited in an editor'
      : 'nothing to change. Give a change, or set $EDITOR to edit the job in an editor';
    throw new QueueError('usage', problem, 'queuectl edit ID --priority high');
  }
  const job = await getJob(app, id);
  const { command, queue, priority, timeout_ms, run_at, name, tags } = toJobObject(job);
  const max_retries = Math.min(job.maxRetries, attemptsAllowed(job));
  const before = JSON.stringify(
    { command, queue, priority, max_retries, timeout_ms, run_at, name, tags },
    null,
    2,
  );
  const after = editText(`${before}\n`, editor);
  if (after === null)
    throw new QueueError('editor-failed', `the editor '${editor}' failed. Nothing was changed`);
  const { inputs } = readEdited(after, id, now);
  if (JSON.stringify(JSON.parse(after)) === JSON.stringify(JSON.parse(before))) return null;
  const changes = changesOf(inputs[0]!);
  // What was emptied or taken out of an optional field is to be gone.
  const given = JSON.parse(after) as Record<string, unknown>;
  if (given.timeout_ms == null) changes.timeoutMs = null;
  if (given.name == null) changes.name = null;
  return changes;
}
