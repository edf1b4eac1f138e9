import { type Acted, deleteJobs, holdJobs, releaseJobs } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { getJob } from '../actions/jobs.ts';
import { cancel } from '../worker/cancel.ts';

/** What became of the jobs that were named. */
export interface ActedOn {
  changed: string[];
  /** Left as they were: they had ended, or were not held. */
  unchanged: string[];
}

/** An id that does not exist is an error, and then nothing is changed. */
export interface ActingVerbs {
  /** Waiting jobs never run; running ones are ended. Resolves when nothing of them is left. */
  cancel(...ids: string[]): Promise<ActedOn>;
  /** Keeps waiting jobs from running. */
  hold(...ids: string[]): Promise<ActedOn>;
  release(...ids: string[]): Promise<ActedOn>;
  /** Removes jobs for good, with their output; running ones stay. */
  delete(...ids: string[]): Promise<ActedOn>;
}

export function actingVerbs(app: App): ActingVerbs {
  const verb =
    (act: (app: App, ids: string[]) => Promise<Acted>) =>
    async (...ids: string[]): Promise<ActedOn> => {
      const unique = [...new Set(ids)];
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
