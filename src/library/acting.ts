import { type Acted, deleteJobs, holdJobs, releaseJobs } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { getJob } from '../actions/jobs.ts';
import { cancel } from '../worker/cancel.ts';
import type { OpenQueue } from './open-queue.ts';
import { jobIds } from './options.ts';
import type { ActedOn, ActingVerbs } from './types.ts';

export function actingVerbs(queue: OpenQueue): ActingVerbs {
  const verb =
    (act: (app: App, ids: string[]) => Promise<Acted>) =>
    async (...ids: string[]): Promise<ActedOn> => {
      const app = queue.app();
      const unique = [...new Set(jobIds(ids))];
      for (const id of unique) await getJob(app, id);
      const { changed, unchanged } = await act(app, unique);
      return { changed, unchanged };
    };
  return {
    cancel: verb(cancel),
    hold: verb(holdJobs),
    release: verb(releaseJobs),
    delete: verb(deleteJobs),
  };
}
