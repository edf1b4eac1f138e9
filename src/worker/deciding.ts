import { settlementOf } from '../actions/settlement.ts';
import type { ClaimedJob } from '../core/job.ts';
import { describeOutcome } from '../core/outcome.ts';
import type { Place } from '../state/place.ts';
import { collectStreams } from '../state/split-output.ts';
import type { Attempt, AttemptContext, FinishedAttempt, Verdict } from './attempt.ts';

const NO_OUTPUT = { bytes: 0, truncated: false, kept: null, tail: '' };

/**
 * Decides what becomes of the job, and collects the values to store. If the attempt lost its gate to another worker, that
 * worker has the claim, so the store refuses the settlement. If the store accepts it nevertheless, the files were left by
 * an earlier attempt with the same number, and the job runs again with another number.
 */
export function decideSettlement(
  attempt: Pick<Attempt, 'context' | 'job' | 'adoption'> & { place: Place | null },
  verdict: Verdict,
): FinishedAttempt {
  const { job } = attempt;
  const { app, settings } = attempt.context;
  const { outcome, leftBehind = [], endedAt = Number.POSITIVE_INFINITY } = verdict;
  const place = verdict.hasNoPlace ? null : attempt.place;
  const finishedAt = Math.min(app.clock.now(), endedAt);
  const { tail, ...output } =
    place === null ? NO_OUTPUT : collectStreams(place, job.splitOutput, settings['output-limit']);
  const error = describeOutcome(outcome, job.timeoutMs, tail);
  const ended = { error, finishedAt, output, leftBehind };
  const context = { settings, random: app.random, newId: app.newId };
  const settlement = settlementOf(job, outcome, ended, context);
  return { job, place, adopted: attempt.adoption !== null, givenBack: false, outcome, settlement };
}

/** Returns the end of an attempt that was claimed and is not started. Its job goes back to the queue, uncharged. */
export function giveBack(context: AttemptContext, job: ClaimedJob): FinishedAttempt {
  const attempt = { context, job, place: null, adoption: null };
  return { ...decideSettlement(attempt, { outcome: { why: 'never-started' } }), givenBack: true };
}
