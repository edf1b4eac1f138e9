import { editJobs } from '../../actions/act.ts';
import { QueueError } from '../../core/errors.ts';
import { readTag } from '../../core/filter.ts';
import { type JobInput, readJobObject } from '../../core/job-input.ts';
import type { JobChanges } from '../../store/store.ts';
import { actingCommand } from '../act.ts';
import type { Input } from '../command.ts';
import { JOB_FLAGS } from '../job-flags.ts';

const { priority, timeout, 'run-at': runAt, 'max-retries': maxRetries } = JOB_FLAGS;

export default actingCommand({
  name: 'edit',
  summary: 'Change waiting jobs',
  done: 'changed',
  flags: {
    priority: priority!,
    timeout: timeout!,
    'run-at': runAt!,
    'max-retries': maxRetries!,
    'set-queue': { value: 'NAME', help: 'move it to this queue' },
    'set-name': { value: 'NAME', help: 'give it this name' },
    'set-tag': { value: 'K=V', many: true, help: 'its tags from now on; may be repeated' },
    command: { value: 'TEXT', short: 'c', help: 'another shell command' },
  },
  examples: ['queuectl edit job1 --priority high', 'queuectl edit --queue mail --set-queue slow --yes'],
  act: (app, ids, input) => editJobs(app, ids, readChanges(input, app.clock.now())),
});

/** The same fields and rules as at enqueue; only the flags that choose jobs have other names here. */
function readChanges(input: Input, now: number): JobChanges {
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
  if (Object.keys(read).length === 0)
    throw new QueueError('usage', 'edit needs something to change', 'queuectl help edit');
  return changesOf(read);
}

function changesOf(read: JobInput): JobChanges {
  const { priority, runAt, queue, command, timeoutMs, maxRetries, tags, name } = read;
  const given = { priority, runAt, queue, command, timeoutMs, maxRetries, tags, name };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as JobChanges;
}
