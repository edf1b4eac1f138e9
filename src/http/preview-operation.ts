import type { App } from '../actions/app.ts';
import { cancelledWith } from '../actions/jobs.ts';
import type { OperationPreview } from '../core/wire.ts';
import { letOthersRun } from './operations.ts';

/** A preview reads at most this many jobs, so that it is fast. */
const MAX_PREVIEWED = 10_000;
/** Other requests are served after this many jobs. */
const BATCH_SIZE = 500;

/** How each action ends a job. The jobs that depend on it are then cancelled. */
const ENDS: Record<string, 'cancelled' | 'deleted'> = { cancel: 'cancelled', delete: 'deleted' };

/** Counts the jobs that a bulk action would act on, and the other jobs that it would cancel. */
export async function previewOperation(
  app: App,
  action: string,
  { ids: pages, limit }: { ids: AsyncIterable<string[]>; limit: number },
): Promise<OperationPreview> {
  const ids: string[] = [];
  const most = Math.min(limit, MAX_PREVIEWED);
  let capped = false;
  for await (const page of pages) {
    capped = page.length > most - ids.length && limit > most;
    ids.push(...page.slice(0, most - ids.length));
    if (ids.length === most) break;
    await letOthersRun();
  }
  const dependents = new Set<string>();
  const end = ENDS[action];
  for (let at = 0; end !== undefined && at < ids.length; at += BATCH_SIZE) {
    for (const id of await cancelledWith(app, ids.slice(at, at + BATCH_SIZE), end, MAX_PREVIEWED))
      dependents.add(id);
    if (dependents.size >= MAX_PREVIEWED) {
      capped = true;
      break;
    }
    await letOthersRun();
  }
  for (const id of ids) dependents.delete(id);
  return { total: ids.length, also_cancelled: dependents.size, capped };
}
