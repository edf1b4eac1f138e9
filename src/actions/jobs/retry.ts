import { QueueError } from '../../core/errors.ts';
import type { State } from '../../core/jobs/job.ts';
import { ACTION_STATES, inStates, joinReasons } from '../../core/jobs/job-action-rules.ts';
import { attemptsAllowed, backoffMs, backoffOf, policyFromSettings } from '../../core/rules/decide.ts';
import { shellWord } from '../../core/text/shell-quote.ts';
import { joinWithOr } from '../../core/text/words.ts';
import { type App, currentSettings } from '../app.ts';
import { actOnJobs, type JobActionResult } from './act.ts';
import { getJob } from './jobs.ts';

interface RetryResult extends JobActionResult {
  /** The ids of unchanged jobs whose unique key another job holds. */
  withoutKey: string[];
  skippedAtMostOnce: string[];
  retriedAtMostOnce: string[];
}

export interface JobRetryOptions {
  /** Only jobs in one of these states are retried. The default is ACTION_STATES.retry. */
  states?: readonly State[];
  /** Skips at-most-once jobs that were started before. Set for bulk actions, where the user may not have looked at each job. */
  bulk?: boolean;
  /** Throws if a job cannot be retried. All jobs are checked before the first one is retried. */
  strict?: boolean;
}

/** Puts jobs back in their queues. They are due now and have all their attempts again. */
export async function retryJobs(
  app: App,
  ids: string[],
  { states = ACTION_STATES.retry, bulk = false, strict = false }: JobRetryOptions = {},
): Promise<RetryResult> {
  if (strict) for (const id of ids) await throwUnlessRetryable(app, id, states);
  // The at-most-once jobs are read before the retry, because a worker may start a retried job immediately.
  const startedBefore = bulk ? [] : (await previewRetry(app, ids, { states })).retriedAtMostOnce;
  const result = await actOnJobs(app, ids, inStates(states), (batch) =>
    app.store.retry(batch, states, app.clock.now(), bulk),
  );
  const { withoutKey, skippedAtMostOnce, ...left } = await previewRetry(app, result.unchanged, {
    states,
    bulk,
  });
  const why = left.why || result.why;
  const retriedAtMostOnce = startedBefore.filter((id) => result.changed.includes(id));
  const [unchangedId] = result.unchanged;
  if (strict && withoutKey.length > 0) throw unchangedJobError(withoutKey[0]!, why);
  if (strict && unchangedId !== undefined)
    throw wrongStateError(unchangedId, (await getJob(app, unchangedId)).state, states);
  return { ...result, withoutKey, skippedAtMostOnce, retriedAtMostOnce, why };
}

/** Returns what `retryJobs` would change now. Throws where it would throw. */
export async function previewRetry(
  app: App,
  ids: string[],
  { states = ACTION_STATES.retry, bulk = false, strict = false }: JobRetryOptions = {},
): Promise<RetryResult> {
  if (strict) for (const id of ids) await throwUnlessRetryable(app, id, states);
  const result: RetryResult = {
    ...{ changed: [], unchanged: [], why: '' },
    ...{ withoutKey: [], skippedAtMostOnce: [], retriedAtMostOnce: [] },
  };
  const ruleOf = inStates(states);
  const reasons: string[] = [];
  /** The unique keys that earlier jobs of the list would reserve again, with the ids of these jobs. */
  const takenKeys = new Map<string, string>();
  for (const id of ids) {
    const job = await app.store.get(id);
    const why = job === null ? 'were deleted' : ruleOf(job);
    const wasStarted = job?.policy.atMostOnce === true && job.startedAt !== null;
    const key = job?.unique?.forMs === null ? job.unique.key : null;
    const holder = (await app.store.keyHolder(id, states, app.clock.now())) ?? takenKeys.get(key ?? '');
    if (why === null && !(bulk && wasStarted) && holder === undefined) {
      result.changed.push(id);
      if (wasStarted) result.retriedAtMostOnce.push(id);
      if (key !== null) takenKeys.set(key, id);
      continue;
    }
    result.unchanged.push(id);
    if (why !== null) reasons.push(why);
    else if (bulk && wasStarted) result.skippedAtMostOnce.push(id);
    else if (holder !== undefined && result.withoutKey.push(id) === 1) reasons.push(keyTakenText(holder));
  }
  result.why = joinReasons(reasons);
  if (strict && result.withoutKey.length > 0) throw unchangedJobError(result.withoutKey[0]!, result.why);
  return result;
}

async function throwUnlessRetryable(app: App, id: string, states: readonly State[]): Promise<void> {
  const { state } = await getJob(app, id);
  if (!states.includes(state)) throw wrongStateError(id, state, states, notRetryableHint(id, state));
  const holder = await app.store.keyHolder(id, states, app.clock.now());
  if (holder !== null) throw unchangedJobError(id, keyTakenText(holder));
}

/** Returns a hint for a job that cannot be retried because of its state. */
export function notRetryableHint(id: string, state: State): string {
  const word = shellWord(id);
  if (state === 'completed') return `to run it again as a new job: queuectl enqueue --again ${word}`;
  if (state === 'processing')
    return `to stop it and run it again: queuectl cancel ${word}, then queuectl retry ${word}. To run it as a second job: queuectl enqueue --again ${word}`;
  if (state === 'pending') return `to see why it is not running: queuectl explain ${word}`;
  return `to show the job: queuectl show ${word}`;
}

function keyTakenText(holder: string): string {
  return `cannot reserve the unique key again, because job '${holder}' holds it`;
}

/** Returns the error for a job that an action has left unchanged. `why` follows the id of the job in the message. */
export function unchangedJobError(
  id: string,
  why: string,
  hint = `to show the job: queuectl show ${shellWord(id)}`,
): QueueError {
  return new QueueError('wrong-state', `job '${id}' ${why}`, hint);
}

export function wrongStateError(
  id: string,
  state: State,
  wanted: readonly State[],
  hint?: string,
): QueueError {
  return unchangedJobError(id, `is ${state}, not ${joinWithOr(wanted)}`, hint);
}

const MAX_DELAYS = 20;

/** Returns the delay after each failed attempt, without random jitter, and the share by which a delay may be shorter, from 0 to 1. */
export async function retryDelays(app: App, id: string) {
  const job = await getJob(app, id);
  const policy = backoffOf(job, policyFromSettings(await currentSettings(app)).backoff);
  const count = Math.min(MAX_DELAYS, attemptsAllowed(job) - 1);
  const delays = Array.from({ length: count }, (_, i) => backoffMs(policy, i + 1, () => 0));
  return { delays_ms: delays, jitter: policy.jitter };
}
