import type { ClaimedJob } from '../core/job.ts';

/** The settings of the runtime inside our executable. They are for queuectl only, so jobs and workers do not get them. */
const RUNTIME = /^(BUN_|NODE_OPTIONS$)/;
/** Matches the trace context of the process that started the worker. A job is no part of that trace. */
const TRACE_CONTEXT = /^(TRACEPARENT|TRACESTATE|BAGGAGE)$/;
/** Makes a worker die at a crash point, for tests. Its jobs do not inherit it. */
export const CRASH_AT = 'QUEUECTL_CRASH_AT';

export function withoutRuntime(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !RUNTIME.test(name)));
}

/** Returns the secrets of a job that the worker's environment does not have. */
export function missingSecrets(worker: NodeJS.ProcessEnv, { secretEnv }: ClaimedJob): string[] {
  return secretEnv.filter((name) => worker[name] === undefined || RUNTIME.test(name));
}

/** The variables that a clean environment has. Others of the worker, such as tokens, have to be named by the job. */
const BASIC = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR)$/;

function basics(environment: NodeJS.ProcessEnv, secrets: readonly string[]): NodeJS.ProcessEnv {
  const wanted = ([name]: [string, unknown]): boolean => BASIC.test(name) || secrets.includes(name);
  return Object.fromEntries(Object.entries(environment).filter(wanted));
}

function withoutTrace(environment: NodeJS.ProcessEnv, secrets: readonly string[]): NodeJS.ProcessEnv {
  const kept = ([name]: [string, unknown]): boolean => !TRACE_CONTEXT.test(name) || secrets.includes(name);
  return Object.fromEntries(Object.entries(environment).filter(kept));
}

/** Returns the environment of a command: the worker's variables, the job's own, and those that identify the attempt. */
export function jobEnvironment(
  worker: NodeJS.ProcessEnv,
  job: ClaimedJob,
  cookie: string,
): NodeJS.ProcessEnv {
  const { [CRASH_AT]: _, ...inherited } = withoutRuntime(worker);
  return {
    ...(job.cleanEnv ? basics(inherited, job.secretEnv) : withoutTrace(inherited, job.secretEnv)),
    PWD: job.cwd,
    ...job.env,
    QUEUECTL_JOB_ID: job.id,
    QUEUECTL_ATTEMPT: String(job.ordinal),
    QUEUECTL_FENCE: String(job.claim.token),
    QUEUECTL_QUEUE: job.queue,
    QUEUECTL_RUN: cookie,
  };
}
