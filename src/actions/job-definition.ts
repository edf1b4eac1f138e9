import { KEPT_FIELDS } from '../core/field-list.ts';
import type { JobInput } from '../core/job-input.ts';
import type { App } from './app.ts';
import { getJob, withStdin } from './jobs.ts';
import { findJobId } from './select.ts';

/** The fields that are not copied. The new job has its own id, is due at once and waits for no other job. */
const NOT_COPIED = ['id', 'run_at', 'depends_on'];

/** Returns the definition of a job, to enqueue another one like it. `reference` is an id, a unique prefix of one, or @last. */
export async function definitionOf(app: App, reference: string): Promise<JobInput> {
  const job = await withStdin(app, await getJob(app, await findJobId(app, reference)));
  const fields = KEPT_FIELDS.filter((field) => field.in === undefined && !NOT_COPIED.includes(field.name));
  const values = fields.map(({ key }) => [key, job[key as keyof typeof job]] as const);
  // The timeout is copied even if it is null. Otherwise the new job would get the default timeout.
  const given = values.filter(([key, value]) => value !== null || key === 'timeoutMs');
  const { onParentFailure: _, ...policy } = job.policy;
  const input: JobInput = { ...Object.fromEntries(given), hooks: job.hooks, policy };
  if (job.unique !== null) {
    const { key, forMs, while: during } = job.unique;
    input.unique = forMs === null ? { key, while: during } : { key, forMs };
  }
  return input;
}
