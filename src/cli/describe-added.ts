import { QueueError } from '../core/errors.ts';
import type { GoneJob, Job } from '../core/job.ts';
import { toIso } from '../core/time.ts';
import { relative } from './times.ts';

/** What a person reads after enqueueing. */
export function describeAdded(job: Job | GoneJob, now: number): string {
  if ('gone' in job) return `${job.id} had this key before and has been removed since: nothing was added\n`;
  const due = job.runAt === null ? '' : `, due ${relative(job.runAt, now)} (${toIso(job.runAt)})`;
  if (job.existing) return `${job.id} has this key already, and is ${job.state}: nothing was added\n`;
  if (job.state === 'cancelled') return `enqueued ${job.id}, and cancelled it at once: ${job.lastError}\n`;
  const held = job.held ? `, held: ${job.lastError}` : '';
  const after = job.blocked ? `, after ${job.dependsOn.map((parent) => parent.id).join(', ')}` : '';
  return `enqueued ${job.id} in queue ${job.queue}${due}${after}${held}\n`;
}

export function describeMany(count: number, first: string, last: string, existing: boolean): string {
  if (existing) return `${count} jobs are there already, ${first} to ${last}: nothing was added\n`;
  return `enqueued ${count} jobs, ${first} to ${last}\n`;
}

/** Whoever cannot be told the ids has to know at least that the jobs are there: once more would be twice. */
export async function orSayAdded(ids: string[], print: () => Promise<void>): Promise<void> {
  try {
    await print();
  } catch (error) {
    if (!(error instanceof QueueError) || error.code !== 'output-failed') throw error;
    const added = ids.length === 1 ? `job ${ids[0]} was added` : `${ids.length} jobs were added`;
    throw new QueueError('output-failed', `${error.message}; ${added}`, 'queuectl list');
  }
}
