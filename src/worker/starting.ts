import { withStdin } from '../actions/jobs.ts';
import { mayStart } from '../core/decide.ts';
import { processes } from '../exec/processes.ts';
import { startCommand } from '../exec/start.ts';
import type { Attempt, StartedCommand, Verdict } from './attempt.ts';
import { withRetries } from './temporary-errors.ts';

/** Starts the command of an attempt. Returns a verdict if the command cannot or must not be started. */
export async function start({ context, job, place }: Attempt): Promise<StartedCommand | Verdict> {
  if (!mayStart(job)) {
    const message = `not started again because the job is at-most-once; first failure: ${job.lastError ?? 'unknown error'}`;
    return { outcome: { why: 'spawn-error', message } };
  }
  const jobWithStdin = await withRetries(() => withStdin(context.app, job));
  const since = processes.earliestStart();
  const { userSettings, lifeline, lease, spares } = context;
  const result = await startCommand(place, jobWithStdin, userSettings, {
    lifeline,
    mayStart: lease?.mayStart,
    spares,
  });
  switch (result.kind) {
    case 'gate-lost':
      return { outcome: { why: 'never-started' }, hasNoPlace: true };
    case 'no-room':
    case 'too-late':
      return { outcome: { why: 'never-started' } };
    case 'refused':
      return { outcome: { why: 'spawn-error', message: result.message } };
    case 'started': {
      context.emit({ type: 'attempt-started', job, pid: result.pid });
      const target = { group: result.pid, cookie: place.cookie, since };
      return { target, ageMs: 0, exit: result.exit };
    }
  }
}
