import { backoffMs } from '../core/backoff.ts';
import { attemptsAllowed, backoffOf, policyFromSettings } from '../core/decide.ts';
import { type App, currentSettings } from './app.ts';
import { getJob } from './jobs.ts';

/** Nobody looks at more. */
const SHOWN = 20;

export interface RetryDelays {
  /** How long it waits after its first failure, its second, and so on; at the longest, where chance has a part in it. */
  delays_ms: number[];
  /** 0 to 1: so much less it may be. */
  jitter: number;
}

/** When a job would be tried again, were it to fail each time. */
export async function retryDelays(app: App, id: string): Promise<RetryDelays> {
  const job = await getJob(app, id);
  const policy = backoffOf(job, policyFromSettings(await currentSettings(app)).backoff);
  const many = Math.min(SHOWN, attemptsAllowed(job) - 1);
  return {
    delays_ms: Array.from({ length: many }, (_, i) => backoffMs(policy, i + 1, () => 0)),
    jitter: policy.jitter,
  };
}
