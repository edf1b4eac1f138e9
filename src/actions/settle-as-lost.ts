import type { Random } from '../core/clock.ts';
import { decide, policyFromSettings } from '../core/decide.ts';
import { hooksAfter } from '../core/hooks.ts';
import { idMaker } from '../core/id.ts';
import type { ClaimedJob } from '../core/job.ts';
import type { Settings } from '../core/settings.ts';
import { homeDirectory } from '../files/home.ts';
import type { Settlement } from '../store/contract/claims.ts';

/**
 * How a job is settled that ran in the store this one was copied from: nobody here knows how that attempt ended, so it
 * counts as lost, by the rules of every lost attempt.
 */
export function settleAsLost(
  settings: Settings,
  now: number,
  random: Random,
): (job: ClaimedJob) => Settlement {
  const newId = idMaker(random);
  return (job) => {
    const transition = decide(job, { why: 'lost' }, policyFromSettings(settings), now, random);
    const error = 'lost: the job was running when the database was copied';
    return {
      ...{ claim: job.claim, transition, why: 'lost', exitCode: null, error, finishedAt: now },
      output: { bytes: 0, truncated: false, kept: null },
      leftBehind: [],
      ...hooksAfter(
        { job, transition, exitCode: null, error },
        { settings, newId: () => newId(now), directory: homeDirectory },
      ),
    };
  };
}
