import type { ClaimedJob, EndReason } from '../core/job.ts';
import { freezeCommand } from '../exec/freeze.ts';
import { endProcesses, type Target } from '../exec/kill.ts';
import type { AttemptContext } from './attempt.ts';
import { patiently } from './patience.ts';

/** How a request to end an attempt came out. `had-ended`: its command ended by itself before the first signal. */
export type Ending = 'ended' | 'had-ended' | 'claim-lost';

/** Ends a running command for a reason, unless it has ended by itself. */
export async function endAttempt(
  context: AttemptContext,
  job: ClaimedJob,
  target: Target,
  reason: EndReason,
  hasEnded: () => boolean,
): Promise<Ending> {
  if (hasEnded()) return 'had-ended';
  // Committed before the first signal: whoever settles this attempt, after whatever crash, knows why it ended.
  if (!(await patiently(() => context.app.store.mark(job.claim, reason)))) return 'claim-lost';
  if (!(await freezeCommand(target, hasEnded))) return 'had-ended';
  context.emit({ type: 'attempt-ending', job, reason });
  await endProcesses(target, context.settings['kill-grace']);
  return 'ended';
}
