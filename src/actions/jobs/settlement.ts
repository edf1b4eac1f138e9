import { hooksAfter } from '../../core/jobs/hooks.ts';
import type { ClaimedJob } from '../../core/jobs/job.ts';
import { idMaker } from '../../core/jobs/new-id.ts';
import { decide, exitCodeOf, type Outcome, policyFromSettings } from '../../core/rules/decide.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { Random } from '../../core/time/clock.ts';
import { homeDirectory } from '../../files/home.ts';
import type { SettleLost } from '../../store/contract/care.ts';
import type { Settlement } from '../../store/contract/claims.ts';
import type { App } from '../app.ts';

/** Decides what becomes of a job after an attempt with this outcome, and returns the values to store. */
export function settlementOf(
  job: ClaimedJob,
  outcome: Outcome,
  attemptEnd: Pick<Settlement, 'error' | 'finishedAt' | 'output' | 'leftBehind'>,
  { settings, random, newId }: Pick<App, 'random' | 'newId'> & { settings: Settings },
): Settlement {
  const { error, finishedAt } = attemptEnd;
  const transition = decide(job, outcome, policyFromSettings(settings), finishedAt, random);
  const exitCode = exitCodeOf(outcome);
  const hooks = hooksAfter(
    { job, transition, exitCode, error },
    { settings, newId: () => newId(finishedAt), directory: homeDirectory },
  );
  return { claim: job.claim, transition, why: outcome.why, exitCode, ...attemptEnd, ...hooks };
}

/** Returns a function that computes how to settle a job that is running in a copy of a store. Its attempt counts as lost. */
export function settlementOfLost(settings: Settings, now: number, random: Random): SettleLost {
  const error = 'lost: the job was running when the database was copied';
  const output = { bytes: 0, truncated: false, kept: null };
  const attemptEnd = { error, finishedAt: now, output, leftBehind: [] };
  const context = { settings, random, newId: idMaker(random) };
  return (job) => settlementOf(job, { why: 'lost' }, attemptEnd, context);
}
