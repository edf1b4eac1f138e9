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
import type { ActingVerbs, ActionResult } from './types.ts';

export function actingVerbs(queue: OpenQueue): ActingVerbs {
  const verb =
    (act: (app: App, ids: string[]) => Promise<JobActionResult>) =>
    async (...ids: string[]): Promise<ActionResult> => {
      const app = queue.app();
      const unique = [...new Set(jobIds(ids))];
      for (const id of unique) await getJob(app, id);
      const { changed, unchanged, alsoCancelled = [] } = await act(app, unique);
      const also = alsoCancelled.length > 0 ? { also_cancelled: alsoCancelled } : {};
      return { changed, unchanged, ...also };
    };
  return {
    cancel: verb((app, ids) => cancelJobs(app, ids, { untilEnded })),
    hold: verb(holdJobs),
    release: verb(releaseJobs),
    delete: verb(deleteJobs),
  };
}
