import { QueueError } from '../core/errors.ts';
import type { State } from '../core/job.ts';
import { joinWithOr } from '../core/words.ts';
import { type Acted, actOnJobs } from './act.ts';
import type { App } from './app.ts';
import { getJob } from './jobs.ts';

const RETRYABLE: readonly State[] = ['dead', 'cancelled', 'failed'];

export interface Retried extends Acted {
  /** The ids of unchanged jobs whose unique key another job holds. */
  withoutKey: string[];
  skipped: string[];
  retriedAtMostOnce: string[];
}

interface RetryOptions {
  from?: readonly State[];
  /** Skips at-most-once jobs that were started before. Set for bulk actions, where the user may not have looked at each job. */
  bulk?: boolean;
  /** Throws if a job cannot be retried. All jobs are checked before the first one is retried. */
  strict?: boolean;
}

/** Returns jobs to their queues. They are due now and have all their attempts again. */
export async function retryJobs(
  app: App,
  ids: string[],
  { from = RETRYABLE, bulk = false, strict = false }: RetryOptions = {},
): Promise<Retried> {
  if (strict) for (const id of ids) await refuseUnlessRetryable(app, id, from);
  // The at-most-once jobs are read first, because a worker may start a retried job immediately.
  const startedBefore = bulk ? [] : await startedAtMostOnce(app, ids, from);
  const acted = await actOnJobs(app, ids, `are not ${joinWithOr(from)}`, (batch) =>
    app.store.retry(batch, from, app.clock.now(), bulk),
  );
  const retriedAtMostOnce = startedBefore.filter((id) => acted.changed.includes(id));
  const skipped = bulk ? await startedAtMostOnce(app, acted.unchanged, from) : [];
  const withoutKey: string[] = [];
  let why = '';
  const others = new Set(acted.unchanged).difference(new Set(skipped));
  for (const id of others) {
    const holder = await app.store.keyHolder(id, from, app.clock.now());
    if (holder === null) continue;
    withoutKey.push(id);
    why ||= keyTaken(holder);
  }
  if (withoutKey.length === 0) why = acted.why;
  else if (withoutKey.length < others.size) why = `${acted.why}, or ${why}`;
  const [missed] = acted.unchanged;
  if (strict && withoutKey.length > 0) throw refusal(withoutKey[0]!, why);
  if (strict && missed !== undefined) throw wrongState(missed, (await getJob(app, missed)).state, from);
  return { ...acted, withoutKey, skipped, retriedAtMostOnce, why };
}

async function refuseUnlessRetryable(app: App, id: string, from: readonly State[]): Promise<void> {
  const { state } = await getJob(app, id);
  if (!from.includes(state)) throw wrongState(id, state, from, againHint(id, state));
  const holder = await app.store.keyHolder(id, from, app.clock.now());
  if (holder !== null) throw refusal(id, keyTaken(holder));
}

/** Returns the hint for a job that cannot be retried in its state. */
export function againHint(id: string, state: State): string {
  if (state === 'completed') return `to run it again as a new job: queuectl enqueue --again ${id}`;
  if (state === 'processing')
    return `to stop it and run it again: queuectl cancel ${id}, then queuectl retry ${id}. To run it as a second job: queuectl enqueue --again ${id}`;
  if (state === 'pending') return `to see why it is not running: queuectl explain ${id}`;
  return `to show the job: queuectl show ${id}`;
}

/** Returns the ids of at-most-once jobs in one of these states that were started before. */
async function startedAtMostOnce(app: App, ids: string[], from: readonly State[]): Promise<string[]> {
  const started: string[] = [];
  for (const id of ids) {
    const job = await app.store.get(id);
    if (job?.policy.atMostOnce && job.startedAt !== null && from.includes(job.state)) started.push(id);
  }
  return started;
}

function keyTaken(holder: string): string {
  return `cannot reserve the unique key again, because job '${holder}' holds it`;
}

export function refusal(id: string, why: string, hint = `to show the job: queuectl show ${id}`): QueueError {
  return new QueueError('wrong-state', `job '${id}' ${why}`, hint);
}

export function wrongState(id: string, state: State, wanted: readonly State[], hint?: string): QueueError {
  return refusal(id, `is ${state}, not ${joinWithOr(wanted)}`, hint);
}
