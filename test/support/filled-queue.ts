import { expect } from 'bun:test';
import { enqueue, type Sandbox } from './queuectl.ts';

/** Adds jobs with various states, fields and output, a limited and paused queue, a setting and a schedule. */
export async function fillQueue(box: Sandbox): Promise<void> {
  await enqueue(box, 'good', 'echo hello', { tags: { a: 'b' }, env: { X: 'ü\u0007' } });
  await enqueue(box, 'bad', 'echo no >&2; exit 3', { max_retries: 1, priority: 5 });
  await enqueue(box, 'loud', 'seq 30000');
  await enqueue(box, 'split', 'seq 20000; seq 30000 60000 >&2', { split_output: true });
  await enqueue(box, 'bytes', 'printf "\\377\\000\\n"');
  await box.run(['worker', 'start', '--drain', '--quiet']);
  await enqueue(box, 'later', 'true', { delay: 3600, queue: 'mail', unique_key: 'k', backoff_base: 1.5 });
  await enqueue(box, 'held', 'true');
  await box.json(['hold', 'held']);
  await enqueue(box, 'gone', 'true');
  await box.json(['cancel', 'gone']);
  await enqueue(box, 'deleted', 'true');
  await box.json(['delete', 'deleted']);
  await box.json(['queue', 'set', 'mail', '--concurrency', '2', '--rate', '5/m']);
  await box.json(['queue', 'pause', 'mail']);
  await box.json(['config', 'set', 'max-retries', '7']);
  expect(
    (await box.run(['schedule', 'add', 'nightly', '--cron', '0 3 * * *', '--', 'echo', 'hi'])).code,
  ).toBe(0);
  await box.run(['schedule', 'run', 'nightly']);
}
