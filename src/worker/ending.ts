import type { ClaimedJob, EndReason } from '../core/job.ts';
import { freezeCommand } from '../exec/freeze.ts';
import { endProcesses } from '../exec/kill.ts';
import type { Target } from '../exec/processes.ts';
import type { AttemptContext } from './attempt.ts';
import { withRetries } from './temporary-errors.ts';

/** The result of ending an attempt. `had-ended` means that its command ended by itself before the first signal. */
export type Ending = 'ended' | 'had-ended' | 'claim-lost';

/** Ends a running command for a reason, unless it has ended by itself. */
export async function endAttempt(
  context: AttemptContext,
  job: ClaimedJob,
  target: Target,
  reason: EndReason,
  hasEnded: () => boolean,
): Promise<Ending> {
  if (hasEnded()) return 'had-ended'; // fault-control: ended-before
  // The reason is committed before the first signal, so that any worker can settle this attempt correctly after a crash.
  if (!(await withRetries(() => context.app.store.mark(job.claim, reason)))) return 'claim-lost';
  const signal = await firstSignal(context, job, reason);
  if (!(await freezeCommand(target, hasEnded))) return 'had-ended'; // fault-control: ended-frozen
  context.emit({ type: 'attempt-ending', job, reason });
  await endProcesses(target, context.settings['kill-grace'], signal);
  return 'ended';
}

/** Returns the first signal for an attempt that is to be ended: the one of the cancel, or SIGTERM. */
async function firstSignal(
  { app }: AttemptContext,
  { claim, workerId }: ClaimedJob,
  reason: EndReason,
): Promise<NodeJS.Signals> {
  if (reason !== 'cancelled') return 'SIGTERM';
  const wishes = await withRetries(() => app.store.wishes(workerId!));
  return wishes.find((wish) => wish.claim.attempt === claim.attempt)?.signal ?? 'SIGTERM';
}
