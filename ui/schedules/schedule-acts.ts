import { part, send } from '../frame/api.ts';
import { command } from '../frame/cli.ts';
import { ask } from '../frame/question.ts';
import { go } from '../frame/router.ts';
import { runAction } from '../jobs/acts.ts';
import type { Job, Schedule } from '../types.ts';
import { SCHEDULE, SCHEDULE_ACTS } from '../words/schedules.ts';

export async function runNow(name: string): Promise<void> {
  let job: Job | null = null;
  const done = await runAction(async () => {
    job = await send<Job>('POST', `/schedules/${part(name)}/run`);
  }, SCHEDULE_ACTS.ran(name));
  if (done && job !== null) go(`/jobs/${part((job as Job).id)}`);
}

export function togglePaused({ name, paused }: Schedule): Promise<boolean> {
  return runAction(
    () => send('PATCH', `/schedules/${part(name)}`, { paused: !paused }),
    paused ? SCHEDULE_ACTS.resumed(name) : SCHEDULE_ACTS.paused(name),
  );
}

export async function remove(name: string): Promise<void> {
  const yes = await ask({
    title: SCHEDULE_ACTS.removeTitle(name),
    detail: SCHEDULE_ACTS.removeDetail,
    cli: command('schedule', 'remove', name),
    button: SCHEDULE.remove,
    danger: true,
    word: null,
  });
  if (!yes) return;
  const done = await runAction(() => send('DELETE', `/schedules/${part(name)}`), SCHEDULE_ACTS.removed(name));
  if (done) go('/schedules');
}
