import { decide, policyFromSettings } from '../core/decide.ts';
import { hooksAfter } from '../core/hooks.ts';
import { describeOutcome, exitCodeOf } from '../core/outcome.ts';
import { homeDirectory } from '../files/home.ts';
import { collectStreams } from '../state/split-output.ts';
import type { Settlement } from '../store/contract/claims.ts';
import type { Attempt, Finished, Verdict } from './attempt.ts';

const NO_OUTPUT = { bytes: 0, truncated: false, kept: null, tail: '' };

/**
 * Decides what becomes of the job, and collects the values to store. A worker that takes the directory of an attempt takes its
 * claim first, so the settlement of an attempt that lost its gate is refused because of its token. If it is accepted, the
 * directory was left by an earlier attempt with the same number, and the job runs again under another one.
 */
export function finish(attempt: Attempt, verdict: Verdict): Finished {
  const { job } = attempt;
  const { app, settings } = attempt.context;
  const { outcome, leftBehind = [], endedAt = Number.POSITIVE_INFINITY } = verdict;
  const place = verdict.gateLost ? null : attempt.place;
  const now = Math.min(app.clock.now(), endedAt);
  const { tail, ...output } =
    place === null ? NO_OUTPUT : collectStreams(place, job.splitOutput, settings['output-limit']);
  const transition = decide(job, outcome, policyFromSettings(settings), now, app.random);
  const exitCode = exitCodeOf(outcome);
  const error = describeOutcome(outcome, job.timeoutMs, tail);
  const settlement: Settlement = {
    claim: job.claim,
    transition,
    why: outcome.why,
    exitCode,
    error,
    finishedAt: now,
    output,
    leftBehind,
    ...hooksAfter(
      { job, transition, exitCode, error },
      { settings, newId: () => app.newId(now), directory: homeDirectory },
    ),
  };
  return { job, place, adopted: attempt.adoption !== null, outcome, transition, settlement };
}
