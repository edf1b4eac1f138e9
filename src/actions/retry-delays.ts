import { backoffMs } from '../core/backoff.ts';
import { attemptsAllowed, backoffOf, policyFromSettings } from '../core/decide.ts';
import { type App, currentSettings } from './app.ts';
import { getJob } from './jobs.ts';

const MAX_DELAYS = 20;

export interface RetryDelays {
  /** The delay after each failed attempt, without random jitter. The list has at most MAX_DELAYS delays. */
  delays_ms: number[];
  /** The share by which a delay may be shorter, from 0 to 1. */
  jitter: number;
}

export async function retryDelays(app: App, id: string): Promise<RetryDelays> {
  const job = await getJob(app, id);
  const policy = backoffOf(job, policyFromSettings(await currentSettings(app)).backoff);
  const count = Math.min(MAX_DELAYS, attemptsAllowed(job) - 1);
  const delays = Array.from({ length: count }, (_, i) => backoffMs(policy, i + 1, () => 0));
  return { delays_ms: delays, jitter: policy.jitter };
}
