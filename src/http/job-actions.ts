import type { JobActionResult } from '../actions/act.ts';
import type { App } from '../actions/app.ts';
import { cancelJobs } from '../actions/cancel.ts';
import { deleteJobs } from '../actions/delete.ts';
import { editJobs } from '../actions/edit.ts';
import { holdJobs } from '../actions/hold.ts';
import { releaseJobs } from '../actions/release.ts';
import { retryJobs } from '../actions/retry.ts';
import { readJobChanges } from '../core/job-changes.ts';
import { refuse } from './problem.ts';

export type Act = (app: App, ids: string[]) => Promise<JobActionResult>;

interface JobAction {
  verb: string;
  /** The summary of the action's route for one job. Null if there is no such route. */
  summary: string | null;
  act: Act;
  /** The function for bulk actions, if it differs from `act`. */
  bulk?: Act;
}

/** The actions that need nothing but the ids of jobs. */
export const JOB_ACTIONS: JobAction[] = [
  {
    verb: 'cancel',
    summary: 'Cancel a job: stop it if it is running, or keep it from running',
    act: (app, ids) => cancelJobs(app, ids),
  },
  {
    verb: 'retry',
    summary: 'Put a dead, cancelled or failed job back in its queue',
    act: (app, ids) => retryJobs(app, ids),
    bulk: (app, ids) => retryJobs(app, ids, { bulk: true }),
  },
  { verb: 'hold', summary: 'Hold a waiting job, so that it does not run', act: holdJobs },
  { verb: 'release', summary: 'Release a held job', act: releaseJobs },
  { verb: 'delete', summary: null, act: (app, ids) => deleteJobs(app, ids) },
];

const EDIT = 'edit';
export const ACTION_NAMES: string[] = [...JOB_ACTIONS.map(({ verb }) => verb), EDIT];

/** Returns the function of a bulk action. Only `edit` takes changes. */
export function bulkActionOf(action: string, changes: unknown, now: number): Act {
  if (action === EDIT) {
    const newValues = readJobChanges(changes, now);
    return (app, ids) => editJobs(app, ids, newValues);
  }
  const jobAction = JOB_ACTIONS.find(({ verb }) => verb === action);
  if (jobAction === undefined)
    return refuse('invalid-request', `action must be one of ${ACTION_NAMES.join(', ')}`);
  if (changes !== undefined) refuse('invalid-request', 'changes are only allowed with the action edit');
  return jobAction.bulk ?? jobAction.act;
}
