import { QueueError } from '../core/errors.ts';

/** Waits until the jobs were printed. If the output cannot be written, the error adds that they were added, so that nobody adds them twice. */
export async function printAdded(ids: string[], printing: Promise<void>): Promise<void> {
  try {
    await printing;
  } catch (error) {
    if (!(error instanceof QueueError) || error.code !== 'output-failed') throw error;
    const { countOf } = await import('../core/words.ts');
    const added = ids.length === 1 ? `job ${ids[0]} was added` : `${countOf(ids.length)} were added`;
    throw new QueueError('output-failed', `${error.message}; ${added}`, 'to list the jobs: queuectl list');
  }
}
