import { formatRelative } from '../core/duration.ts';
import { QueueError } from '../core/errors.ts';
import type { GoneJob, Job } from '../core/job.ts';
import { toIso } from '../core/time.ts';
import { countOf } from '../core/words.ts';

/** Describes an enqueued job for a terminal. */
export function describeAdded(job: Job | GoneJob, now: number): string {
  if ('gone' in job) return `nothing was added: job ${job.id} had this key and has since been removed\n`;
  const due = job.runAt === null ? '' : `, due ${formatRelative(job.runAt, now)} (${toIso(job.runAt)})`;
  if (job.existing) return `nothing was added: job ${job.id} (${job.state}) already has this key\n`;
  if (job.state === 'cancelled')
    return `enqueued ${job.id}, which was cancelled immediately: ${job.lastError}\n`;
  const held = job.held ? `, held${job.lastError === null ? '' : `: ${job.lastError}`}` : '';
  const after = job.blocked ? `, waiting for ${job.dependsOn.map((parent) => parent.id).join(', ')}` : '';
  return `enqueued ${job.id} in queue ${job.queue}${due}${after}${held}\n`;
}

export function describeMany(count: number, first: string, last: string, existing: boolean): string {
  if (existing) return `nothing was added: ${countOf(count)} already exist, ${first} to ${last}\n`;
  return `enqueued ${countOf(count)}, ${first} to ${last}\n`;
}

/** Adds to an error of `print` that the jobs were added, because enqueueing them again would run them twice. */
export async function orSayAdded(ids: string[], print: () => Promise<void>): Promise<void> {
  try {
    await print();
  } catch (error) {
    if (!(error instanceof QueueError) || error.code !== 'output-failed') throw error;
    const added = ids.length === 1 ? `job ${ids[0]} was added` : `${countOf(ids.length)} were added`;
    throw new QueueError('output-failed', `${error.message}; ${added}`, 'queuectl list');
  }
}
