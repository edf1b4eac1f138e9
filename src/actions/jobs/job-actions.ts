import { checkAtMostOnce } from '../../core/jobs/enqueue-rules.ts';
import type { State } from '../../core/jobs/job.ts';
import { ACTION_RULES, ACTION_STATES, editRule, type JobRule } from '../../core/jobs/job-action-rules.ts';
import type { JobChanges } from '../../core/jobs/job-changes.ts';
import { filesOfAttempt, removeFiles } from '../../state/attempt-files.ts';
import type { App } from '../app.ts';
import { actOnJobs, type CancelOptions, cancelJobs, type JobActionResult, previewJobs } from './act.ts';
import { checkSecrets } from './enqueue.ts';
import { cancelledWith } from './jobs.ts';
import { type JobRetryOptions, previewRetry, retryJobs } from './retry.ts';
import { previewSignal, signalJobs } from './signal-jobs.ts';

/** The options of the actions on jobs. Each action uses only some of them. */
export interface ActionOptions extends CancelOptions, JobRetryOptions {
  changes?: JobChanges;
}

type Act = (app: App, ids: string[], options?: ActionOptions) => Promise<JobActionResult>;

export interface JobAction {
  /** The past participle, such as `cancelled`. */
  done: string;
  /** The end of the jobs, if the action also cancels the jobs that depend on them. */
  end?: 'cancelled' | 'deleted';
  act: Act;
  /** Returns what `act` would change now. Throws where it would throw. */
  preview: Act;
}

/** Every action on jobs, for the command line, the HTTP API, the library and the live screen. */
export const JOB_ACTIONS = {
  cancel: ending('cancelled', ACTION_RULES.cancel, 'cancelled', cancelJobs),
  retry: { done: 'retried', act: retryJobs, preview: previewRetry },
  hold: simple('held', ACTION_RULES.hold, (app, ids) => app.store.hold(ids, app.clock.now())),
  release: simple('released', ACTION_RULES.release, (app, ids) => app.store.release(ids, app.clock.now())),
  delete: ending('deleted', ACTION_RULES.delete, 'deleted', deleteJobs),
  edit: { done: 'changed', act: editJobs, preview: previewEdit },
  suspend: signal('suspended', 'SIGSTOP'),
  continue: signal('continued', 'SIGCONT'),
} satisfies Record<string, JobAction>;

export type JobVerb = keyof typeof JOB_ACTIONS;

function simple(
  done: string,
  rule: JobRule,
  change: (app: App, ids: string[]) => Promise<string[]>,
): JobAction {
  return {
    done,
    act: (app, ids) => actOnJobs(app, ids, rule, (batch) => change(app, batch)),
    preview: (app, ids) => previewJobs(app, ids, rule),
  };
}

function ending(done: string, rule: JobRule, end: 'cancelled' | 'deleted', act: Act): JobAction {
  const preview: Act = async (app, ids) => {
    const result = await previewJobs(app, ids, rule);
    return { ...result, alsoCancelled: await cancelledWith(app, result.changed, end) };
  };
  return { done, end, act, preview };
}

function signal(done: string, name: NodeJS.Signals): JobAction {
  return {
    done,
    act: (app, ids) => signalJobs(app, ids, name),
    preview: (app, ids) => previewSignal(app, ids, name),
  };
}

/** Permanently deletes the jobs that are in one of `states`, with their output. */
async function deleteJobs(
  app: App,
  ids: string[],
  { states = ACTION_STATES.delete }: { states?: readonly State[] } = {},
): Promise<JobActionResult> {
  const dependents = new Set<string>();
  const result = await actOnJobs(app, ids, ACTION_RULES.delete, async (batch) => {
    const removed = await app.store.remove(batch, states, app.clock.now());
    for (const id of removed.dependents) dependents.add(id);
    for (const attempt of removed.attempts) removeFiles(filesOfAttempt(app, attempt));
    return removed.ids;
  });
  return { ...result, alsoCancelled: [...dependents.difference(new Set(result.changed))] };
}

/** Changes waiting jobs. Throws if the changes set a variable that is a secret of one of the jobs. */
async function editJobs(app: App, ids: string[], options: ActionOptions = {}): Promise<JobActionResult> {
  const changes = await checkedChanges(app, ids, options);
  return actOnJobs(app, ids, editRule(changes.maxRetries), (batch) =>
    app.store.edit(batch, changes, app.clock.now()),
  );
}

async function previewEdit(app: App, ids: string[], options: ActionOptions = {}): Promise<JobActionResult> {
  const { maxRetries } = await checkedChanges(app, ids, options);
  return previewJobs(app, ids, editRule(maxRetries));
}

/** Returns the changes. An at-most-once job cannot get a second attempt: it stays unchanged or, with `strict`, this throws. */
async function checkedChanges(
  app: App,
  ids: string[],
  { changes = {}, strict }: ActionOptions,
): Promise<JobChanges> {
  const { maxRetries, env } = changes;
  for (const id of ids) {
    if (env === undefined && !(strict && maxRetries !== undefined)) break;
    const job = await app.store.get(id);
    if (strict && maxRetries !== undefined) checkAtMostOnce({ policy: job?.policy ?? {}, maxRetries });
    if (env !== undefined) checkSecrets({ secretEnv: job?.secretEnv ?? [], env });
  }
  return changes;
}
