import { attempt } from './acts.ts';
import { part, send } from './api.ts';
import { ask } from './asking.ts';
import { command } from './cli.ts';
import { go } from './router.ts';
import type { Job, Schedule } from './types.ts';

export async function runNow(name: string): Promise<void> {
  let job: Job | null = null;
  const done = await attempt(async () => {
    job = await send<Job>('POST', `/schedules/${part(name)}/run`);
  }, `A job of ${name} is enqueued`);
  if (done && job !== null) go(`/jobs/${part((job as Job).id)}`);
}

export function togglePaused({ name, paused }: Schedule): Promise<boolean> {
  return attempt(
    () => send('PATCH', `/schedules/${part(name)}`, { paused: !paused }),
    `Schedule ${name} ${paused ? 'goes on' : 'is paused'}`,
  );
}

export async function remove(name: string): Promise<void> {
  const yes = await ask({
    ...{ title: `Remove schedule ${name}?`, detail: 'No more jobs are made. Those that were made stay.' },
    ...{ cli: command('schedule', 'remove', name), button: 'Remove', danger: true, word: null },
  });
  if (!yes) return;
  const done = await attempt(() => send('DELETE', `/schedules/${part(name)}`), `Schedule ${name} is gone`);
  if (done) go('/schedules');
}
