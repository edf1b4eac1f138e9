import {
  cancelRule,
  deleteRule,
  holdRule,
  type JobRule,
  joinReasons,
  releaseRule,
} from '../core/job-action-rules.ts';
import type { JobActionResult } from './act.ts';
import type { App } from './app.ts';
import { cancelledWith } from './jobs.ts';

/** Returns which of these jobs an action with this rule would change now, and why it would leave the others unchanged. */
export async function previewJobs(app: App, ids: string[], rule: JobRule): Promise<JobActionResult> {
  const changed: string[] = [];
  const unchanged: string[] = [];
  const reasons = new Set<string>();
  for (const id of ids) {
    const job = await app.store.get(id);
    const why = job === null ? 'were deleted' : rule(job);
    if (why !== null) reasons.add(why);
    (why === null ? changed : unchanged).push(id);
  }
  return { changed, unchanged, why: joinReasons(reasons) };
}

export const previewHold = (app: App, ids: string[]) => previewJobs(app, ids, holdRule);
export const previewRelease = (app: App, ids: string[]) => previewJobs(app, ids, releaseRule);
export const previewCancel = (app: App, ids: string[]) => previewEnd(app, ids, cancelRule, 'cancelled');
export const previewDelete = (app: App, ids: string[]) => previewEnd(app, ids, deleteRule, 'deleted');

async function previewEnd(app: App, ids: string[], rule: JobRule, end: 'cancelled' | 'deleted') {
  const result = await previewJobs(app, ids, rule);
  return { ...result, alsoCancelled: await cancelledWith(app, result.changed, end) };
}

/** Returns why an action left jobs unchanged. If no reason applies any more, returns the one in the result. */
export async function whyUnchanged(app: App, result: JobActionResult, rule: JobRule): Promise<string> {
  return (await previewJobs(app, result.unchanged, rule)).why || result.why;
}
