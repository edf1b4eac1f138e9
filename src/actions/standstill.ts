import { HOOK_QUEUE } from '../core/hooks.ts';
import { toIso } from '../core/time.ts';
import type { Worker } from '../store/contract/workers.ts';
import type { App } from './app.ts';
import { activeWorkers } from './workers.ts';

/** Returns sentences that explain why jobs of these queues do not start: a paused queue, or no worker that serves it. */
export async function standstill(app: App, names: string[]): Promise<string[]> {
  const reasons: string[] = [];
  for (const { name, pausedAt, pausedBy } of await app.store.queues()) {
    if (pausedAt !== null && names.includes(name))
      reasons.push(
        `queue ${name} was paused at ${toIso(pausedAt)} by ${pausedBy}; to resume it: queuectl queue resume ${name}`,
      );
  }
  const workers = await activeWorkers(app);
  if (workers.length === 0) return [...reasons, 'no worker is running; to start one: queuectl worker start'];
  const unserved = names.filter((name) => !workers.some((worker) => serves(worker, name)));
  if (unserved.length > 0) {
    const list = unserved.join(',');
    reasons.push(`no worker serves queue ${list}; to start one: queuectl worker start --queue ${list}`);
  }
  return reasons;
}

export function serves(worker: Worker, queue: string): boolean {
  return queue === HOOK_QUEUE || worker.queues === null || worker.queues.includes(queue);
}
