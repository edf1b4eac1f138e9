import type { JobActionResult } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { cancelJobs } from '../actions/cancel.ts';
import { deleteJobs } from '../actions/delete.ts';
import { holdJobs } from '../actions/hold.ts';
import { getJob } from '../actions/jobs.ts';
import { releaseJobs } from '../actions/release.ts';
import { untilEnded } from '../worker/orphans.ts';
import type { OpenQueue } from './open-queue.ts';
import { jobIds } from './options.ts';
import type { ActionResult, JobActions } from './types.ts';

/** Returns the methods of the library that change jobs by id. They throw if one of the ids does not exist. */
export function jobActions(queue: OpenQueue): JobActions {
  const action =
    (act: (app: App, ids: string[]) => Promise<JobActionResult>) =>
    async (...ids: string[]): Promise<ActionResult> => {
      const app = queue.app();
      const uniqueIds = [...new Set(jobIds(ids))];
      for (const id of uniqueIds) await getJob(app, id);
      const { changed, unchanged, alsoCancelled = [] } = await act(app, uniqueIds);
      const alsoField = alsoCancelled.length > 0 ? { also_cancelled: alsoCancelled } : {};
      return { changed, unchanged, ...alsoField };
    };
  return {
    cancel: action((app, ids) => cancelJobs(app, ids, { untilEnded })),
    hold: action(holdJobs),
    release: action(releaseJobs),
    delete: action(deleteJobs),
  };
}
