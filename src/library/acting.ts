import { type Acted, deleteJobs, holdJobs, releaseJobs } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { getJob } from '../actions/jobs.ts';
import { cancel } from '../worker/cancel.ts';

/** The result of an action on jobs. */
export interface ActedOn {
  changed: string[];
  /** Ids of jobs that the action does not apply to, such as finished jobs or jobs that are not held. */
  unchanged: string[];
  /** Ids of further jobs that were cancelled, because they depended on the changed ones. Absent if there are none. */
  also_cancelled?: string[];
}

/** Acts on jobs by id. An unknown id is an error, and then nothing is changed. */
export interface ActingVerbs {
  /** Keeps waiting jobs from running and stops running ones. Resolves when none of their processes is left. */
  cancel(...ids: string[]): Promise<ActedOn>;
  /** Keeps waiting jobs from running until they are released. */
  hold(...ids: string[]): Promise<ActedOn>;
  release(...ids: string[]): Promise<ActedOn>;
  /** Deletes jobs permanently with their output. Running jobs are left unchanged. */
  delete(...ids: string[]): Promise<ActedOn>;
}

export function actingVerbs(app: App): ActingVerbs {
  const verb =
    (act: (app: App, ids: string[]) => Promise<Acted>) =>
    async (...ids: string[]): Promise<ActedOn> => {
      const unique = [...new Set(ids)];
      for (const id of unique) await getJob(app, id);
      const { changed, unchanged, alsoCancelled = [] } = await act(app, unique);
      const also = alsoCancelled.length > 0 ? { also_cancelled: alsoCancelled } : {};
      return { changed, unchanged, ...also };
    };
  return {
    cancel: verb(cancel),
    hold: verb(holdJobs),
    release: verb(releaseJobs),
    delete: verb(deleteJobs),
  };
}
