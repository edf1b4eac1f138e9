import { part, send } from '../frame/api.ts';
import { queues, readOnly } from '../frame/store.ts';
import { runAction } from '../jobs/acts.ts';
import { QUEUE_ACTS } from '../words/shared.ts';

export function setPaused(name: string, paused: boolean): Promise<boolean> {
  return runAction(
    () => send('PATCH', `/queues/${part(name)}`, { paused }),
    paused ? QUEUE_ACTS.paused(name) : QUEUE_ACTS.resumed(name),
  );
}

export function setLimits(name: string, limits: Record<string, string | null>): Promise<boolean> {
  return runAction(() => send('PATCH', `/queues/${part(name)}`, limits), QUEUE_ACTS.limitsSaved(name));
}

/** Pauses or resumes a queue by its name. */
export function togglePaused(name: string): void {
  const queue = queues.value?.find((one) => one.name === name);
  if (queue !== undefined && !readOnly.value) void setPaused(name, !queue.paused);
}
