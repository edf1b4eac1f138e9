import type { JobSpec } from './job.ts';
import type { JobInput } from './job-fields.ts';
import { readJobObject } from './job-input.ts';
import { invalid } from './read-value.ts';

/** What can be changed of a waiting job. */
export type JobChanges = Pick<
  Partial<JobSpec>,
  'priority' | 'runAt' | 'queue' | 'command' | 'timeoutMs' | 'maxRetries' | 'tags' | 'name'
>;

/** What of it can be changed once the job is enqueued. */
export function changesOf(read: JobInput): JobChanges {
  const { priority, runAt, queue, command, timeoutMs, maxRetries, tags, name } = read;
  const given = { priority, runAt, queue, command, timeoutMs, maxRetries, tags, name };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as JobChanges;
}

/** Changes as a program sends them: what cannot be changed is refused. */
export function readJobChanges(value: unknown, now: number): JobChanges {
  const { input } = readJobObject(value, now, true);
  const changes = changesOf(input);
  // A delay has become the time that it means.
  const stray = Object.keys(input).find((key) => key !== 'delayMs' && !(key in changes));
  if (stray !== undefined) throw invalid(`the ${stray} of a job cannot be changed`);
  if (Object.keys(changes).length === 0) throw invalid('no changes given');
  return changes;
}
