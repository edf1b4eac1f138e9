import { settlementOf } from '../actions/settlement.ts';
import { describeOutcome } from '../core/outcome.ts';
import { collectStreams } from '../state/split-output.ts';
import type { Attempt, FinishedAttempt, Verdict } from './attempt.ts';

const NO_OUTPUT = { bytes: 0, truncated: false, kept: null, tail: '' };

/**
 * Decides what becomes of the job, and collects the values to store. If the attempt lost its gate to another worker, that
 * worker has the claim, so the store refuses the settlement. If the store accepts it nevertheless, the files were left by
 * an earlier attempt with the same number, and the job runs again with another number.
 */
export function decideSettlement(
  attempt: Pick<Attempt, 'context' | 'job' | 'place' | 'adoption'>,
  verdict: Verdict,
): FinishedAttempt {
  const { job } = attempt;
  const { app, settings } = attempt.context;
  const { outcome, givenBack = false, leftBehind = [], endedAt = Number.POSITIVE_INFINITY } = verdict;
  const place = verdict.hasNoPlace || givenBack ? null : attempt.place;
  const finishedAt = Math.min(app.clock.now(), endedAt);
  const { tail, ...output } =
    place === null ? NO_OUTPUT : collectStreams(place, job.splitOutput, settings['output-limit']);
  const error = describeOutcome(outcome, job.timeoutMs, tail);
  const ended = { error, finishedAt, output, leftBehind };
  const context = { settings, random: app.random, newId: app.newId };
  const settlement = settlementOf(job, outcome, ended, context);
  return { job, place, adopted: attempt.adoption !== null, givenBack, outcome, settlement };
}
