import type { Transition } from './decide.ts';
import { newSpec } from './field-list.ts';
import type { ClaimedJob, JobHooks, JobSpec, State } from './job.ts';
import type { Settings } from './settings.ts';

/** Hooks run here. Every worker serves it, and what happens to its jobs triggers nothing: a hook cannot loop. */
export const HOOK_QUEUE = 'hooks';
/** Before ordinary work, so that bad news comes while it is news; behind what is urgent. */
const PRIORITY = 10;

type HookEvent = keyof JobHooks;

/** What a hook is told about: the job as it is after the attempt that ended. */
export interface HookCause {
  job: ClaimedJob;
  transition: Transition;
  exitCode: number | null;
  error: string | null;
}

export interface HookContext {
  settings: Settings;
  newId(): string;
  /** Where a command of the settings runs: the directory of the job may be gone. */
  directory(): string;
}

/** The jobs that an ended attempt brings about, and the one it may: when nothing is left to do after it. */
export function hooksAfter(
  cause: HookCause,
  context: HookContext,
): { hooks: JobSpec[]; onIdle: JobSpec | null } {
  if (cause.job.queue === HOOK_QUEUE || cause.transition.to === 'released')
    return { hooks: [], onIdle: null };
  const hooks = eventsOf(cause).map((event) => hookJob(event, cause, context));
  return { hooks: hooks.filter((hook) => hook !== null), onIdle: hookJob('idle', cause, context) };
}

function eventsOf({ job, transition }: HookCause): HookEvent[] {
  // An attempt that was lost with its worker is charged to nobody: it is no failure of the job.
  const charged = transition.attempts > job.attempts;
  switch (transition.to) {
    case 'completed':
      return ['complete'];
    case 'failed':
      return ['failure'];
    case 'dead':
      return charged ? ['failure', 'dead'] : ['dead'];
    default:
      return [];
  }
}

function hookJob(event: HookEvent, cause: HookCause, context: HookContext): JobSpec | null {
  const { job } = cause;
  const { settings } = context;
  const own = job.hooks[event];
  const command = own ?? settings[`on-${event}`];
  if (command === null || command.trim().toLowerCase() === 'none') return null;
  return newSpec({
    id: context.newId(),
    command,
    queue: HOOK_QUEUE,
    priority: PRIORITY,
    maxRetries: settings['max-retries'],
    timeoutMs: settings['job-timeout'],
    // A hook must be able to report that the directory of the job is missing.
    cwd: own === undefined || cause.exitCode === null ? context.directory() : job.cwd,
    env: environmentOf(event, cause),
    tags: { job: job.id },
    name: `on-${event}`,
  });
}

/** What a hook learns, it learns from its environment: nothing is ever put into its text. */
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

/** What a hook enqueues triggers none of the hooks in the settings, or the first would never be the last. */
export function withoutHooks<T extends { hooks?: JobHooks }>(job: T): T {
  return { ...job, hooks: { complete: 'none', failure: 'none', dead: 'none', idle: 'none', ...job.hooks } };
}
