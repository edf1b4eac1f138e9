import type { Transition } from '../rules/decide.ts';
import type { Settings } from '../settings/settings.ts';
import { isNone } from '../text/words.ts';
import type { ClaimedJob, JobHooks, JobSpec, State } from './job.ts';
import { newSpec } from './job-defaults.ts';

/** The queue of hook jobs. Every worker serves it, and its jobs trigger no hooks, so that hooks cannot loop. */
export const HOOK_QUEUE = 'hooks';
/** Hooks run before jobs of normal priority, so that they report soon, but after urgent ones. */
const HOOK_PRIORITY = 10;

type HookEvent = keyof JobHooks;

/** The attempt that triggers a hook: the job as it was claimed, and how the attempt ended. */
export interface HookCause {
  job: ClaimedJob;
  transition: Transition;
  exitCode: number | null;
  error: string | null;
}

export interface HookContext {
  settings: Settings;
  newId(): string;
  /** Returns the working directory for hooks that do not run in the directory of the job. */
  directory(): string;
}

/** Returns the hook jobs that the end of an attempt triggers, and `onIdle`, the hook job to add if no job is left to run. */
export function hooksAfter(
  cause: HookCause,
  context: HookContext,
): { hooks: JobSpec[]; onIdle: JobSpec | null } {
  if (cause.job.queue === HOOK_QUEUE || cause.transition.to === 'released')
    return { hooks: [], onIdle: null };
  const hooks = eventsOf(cause).map((event) => hookJob(event, cause, context));
  return { hooks: hooks.filter((hook) => hook !== null), onIdle: hookJob('idle', cause, context) };
}

/** Returns the events that the end of an attempt causes, except `idle`. */
function eventsOf({ job, transition }: HookCause): HookEvent[] {
  // An attempt that was lost or stopped is not charged to the job, so it does not count as a failure.
  const isCharged = transition.attempts > job.attempts;
  switch (transition.to) {
    case 'completed':
      return ['complete'];
    case 'failed':
      return ['failure'];
    case 'dead':
      return isCharged ? ['failure', 'dead'] : ['dead'];
    default:
      return [];
  }
}

function hookJob(event: HookEvent, cause: HookCause, context: HookContext): JobSpec | null {
  const { job } = cause;
  const { settings } = context;
  const jobHook = job.hooks[event];
  const command = jobHook ?? settings[`on-${event}`];
  if (command === null || isNone(command)) return null;
  return newSpec({
    id: context.newId(),
    command,
    queue: HOOK_QUEUE,
    priority: HOOK_PRIORITY,
    maxRetries: settings['max-retries'],
    timeoutMs: settings['job-timeout'],
    // If the directory of the job is missing, there is no exit code, and the hook must be able to report it.
    cwd: jobHook === undefined || cause.exitCode === null ? context.directory() : job.cwd,
    env: environmentOf(event, cause),
    tags: { job: job.id },
    name: `on-${event}`,
  });
}

/** Returns the variables of a hook. Values of the job are not inserted into its command, because the shell could run them. */
function environmentOf(
  event: HookEvent,
  { job, transition, exitCode, error }: HookCause,
): Record<string, string> {
  return {
    QUEUECTL_HOOK_EVENT: event,
    QUEUECTL_HOOK_JOB_ID: job.id,
    QUEUECTL_HOOK_STATE: transition.to satisfies State | 'released',
    QUEUECTL_HOOK_EXIT_CODE: exitCode === null ? '' : String(exitCode),
    QUEUECTL_HOOK_ERROR: error ?? '',
    QUEUECTL_HOOK_QUEUE: job.queue,
    QUEUECTL_HOOK_ATTEMPTS: String(transition.attempts),
  };
}

/** Switches off the hooks of the settings for a job that a hook enqueues, so that hooks cannot loop. Its own hooks stay. */
export function withoutDefaultHooks<T extends { hooks?: JobHooks }>(job: T): T {
  return { ...job, hooks: { complete: 'none', failure: 'none', dead: 'none', idle: 'none', ...job.hooks } };
}
