import { WAITING_REASONS } from '../../src/core/jobs/waiting-reason.ts';
import { enqueue, type Sandbox, untilState } from './queuectl.ts';

/** Runs longer than any test. */
const LONG_COMMAND = 'sleep 600';
const SERVED_QUEUES = 'default,full,slow,shut';

/**
 * Fills a store so that every reason to wait occurs once, on a job with the reason as its id. Two long jobs, `parent` and
 * `busy`, take the only two slots. The job `blocked` waits for `parent`, which also fills the queue `full`.
 */
export async function addEveryReason(box: Sandbox): Promise<void> {
  await box.json(['queue', 'set', 'full', '--concurrency', '1']);
  await box.json(['queue', 'set', 'slow', '--rate', '1/h']);
  await box.startWorkers('--queue', SERVED_QUEUES, '--concurrency', '2');
  await enqueue(box, 'retrying', 'exit 3', { backoff: 'fixed', retry_delay_ms: 3_600_000 });
  await enqueue(box, 'first', 'true', { queue: 'slow' });
  await untilState(box, 'retrying', 'failed');
  await untilState(box, 'first', 'completed');
  await enqueue(box, 'parent', LONG_COMMAND, { queue: 'full' });
  await enqueue(box, 'busy', LONG_COMMAND);
  await untilState(box, 'parent', 'processing');
  await untilState(box, 'busy', 'processing');
  await enqueue(box, 'ready', 'true');
  await enqueue(box, 'rate_limited', 'true', { queue: 'slow' });
  await enqueue(box, 'at_limit', 'true', { queue: 'full' });
  await enqueue(box, 'no_worker', 'true', { queue: 'gpu' });
  await enqueue(box, 'queue_paused', 'true', { queue: 'shut' });
  await enqueue(box, 'scheduled', 'true', { delay: 7200 });
  await enqueue(box, 'blocked', 'true', { depends_on: ['parent'] });
  await enqueue(box, 'held', 'true');
  await box.json(['queue', 'pause', 'shut']);
  await box.json(['hold', 'held']);
}

/** The ids of the waiting jobs, newest first. */
export const WAITING_IDS: readonly string[] = [
  ...WAITING_REASONS.filter((reason) => reason !== 'retrying' && reason !== 'ready'),
  ...['ready', 'retrying'],
];
