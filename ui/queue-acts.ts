import { attempt } from './acts.ts';
import { part, send } from './api.ts';
import { queues, readOnly } from './store.ts';

export function setPaused(name: string, paused: boolean): Promise<boolean> {
  return attempt(
    () => send('PATCH', `/queues/${part(name)}`, { paused }),
    `Queue ${name} is ${paused ? 'paused: running jobs go on, no new one starts' : 'going on'}`,
  );
}

export function setLimits(name: string, limits: Record<string, string | null>): Promise<boolean> {
  return attempt(() => send('PATCH', `/queues/${part(name)}`, limits), `The limits of queue ${name} are set`);
}

/** Of a queue that is known by its name only. */
export function togglePaused(name: string): void {
  const queue = queues.value?.find((one) => one.name === name);
  if (queue !== undefined && !readOnly.value) void setPaused(name, !queue.paused);
}
