import { formatRelative } from '../core/duration.ts';
import type { GoneJob, Job } from '../core/job.ts';
import { toIso } from '../core/time.ts';
import { countOf } from '../core/words.ts';

/** Describes in one line what became of a job that was to be added. */
export function describeAdded(job: Job | GoneJob, now: number): string {
  if ('gone' in job)
    return `nothing was added: job ${job.id} was enqueued with this key and has since been removed`;
  const due = job.runAt === null ? '' : `, due ${formatRelative(job.runAt, now)} (${toIso(job.runAt)})`;
  if (job.existing) return `nothing was added: job ${job.id} (${job.state}) already has this key`;
  if (job.state === 'cancelled')
    return `enqueued ${job.id}, which was cancelled immediately: ${job.lastError}`;
  const held = job.held ? `, held${job.lastError === null ? '' : `: ${job.lastError}`}` : '';
  const after = job.blocked ? `, waiting for ${job.dependsOn.map((parent) => parent.id).join(', ')}` : '';
  return `enqueued ${job.id} in queue ${job.queue}${due}${after}${held}`;
}

export function describeMany(ids: string[], allExisted: boolean): string {
  const range = `(from ${ids[0]} to ${ids.at(-1)})`;
  if (allExisted) return `nothing was added: ${countOf(ids.length)} already exist ${range}`;
  return `enqueued ${countOf(ids.length)} ${range}`;
}
