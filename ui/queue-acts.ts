import { attempt } from './acts.ts';
import { part, send } from './api.ts';

export function setPaused(name: string, paused: boolean): Promise<boolean> {
  return attempt(
    () => send('PATCH', `/queues/${part(name)}`, { paused }),
    `Queue ${name} is ${paused ? 'paused: running jobs go on, no new one starts' : 'going on'}`,
  );
}

export function setLimits(name: string, limits: Record<string, string | null>): Promise<boolean> {
  return attempt(() => send('PATCH', `/queues/${part(name)}`, limits), `The limits of queue ${name} are set`);
}
