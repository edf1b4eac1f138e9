import type { ClaimedJob, EndReason } from '../core/job.ts';
import { freezeCommand } from '../exec/freeze.ts';
import { endProcesses } from '../exec/kill.ts';
import type { Target } from '../exec/processes.ts';
import { endSignalOf } from '../state/end-signal.ts';
import { placeOfAttempt } from '../state/place.ts';
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
  if (!(await freezeCommand(target, hasEnded))) return 'had-ended'; // fault-control: ended-frozen
  context.emit({ type: 'attempt-ending', job, reason });
  const { app, settings } = context;
  const place = placeOfAttempt(app, job.claim.attempt);
  const firstSignal = reason === 'cancelled' ? endSignalOf(place) : 'SIGTERM';
  await endProcesses(target, settings['kill-grace'], firstSignal);
  return 'ended';
}
