import type { ClaimedJob } from '../core/job.ts';

/** Matches the settings of the runtime in our executable. They are for queuectl only, so jobs and workers do not get them. */
const RUNTIME_VARIABLES = /^(BUN_|NODE_OPTIONS$)/;
/** Matches the trace context of the process that started the worker. Its jobs are not part of that trace. */
const TRACE_CONTEXT = /^(TRACEPARENT|TRACESTATE|BAGGAGE)$/;
/** The variable that makes a worker die at a crash point, for tests. Jobs do not inherit it. */
export const CRASH_AT = 'QUEUECTL_CRASH_AT';

export function withoutRuntime(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !RUNTIME_VARIABLES.test(name)));
}

/** Returns the names of the secrets of a job that are not in the environment of the worker. */
export function missingSecrets(worker: NodeJS.ProcessEnv, { secretEnv }: ClaimedJob): string[] {
  return secretEnv.filter((name) => worker[name] === undefined || RUNTIME_VARIABLES.test(name));
}

/** The worker's variables in a clean environment. Jobs have to name others, such as tokens. */
const BASIC_VARIABLES = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR)$/;

function basicVariables(environment: NodeJS.ProcessEnv, secrets: readonly string[]): NodeJS.ProcessEnv {
  const wanted = ([name]: [string, unknown]): boolean => BASIC_VARIABLES.test(name) || secrets.includes(name);
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
    ...(job.cleanEnv ? basicVariables(inherited, job.secretEnv) : withoutTrace(inherited, job.secretEnv)),
    PWD: job.cwd,
    ...job.env,
    QUEUECTL_JOB_ID: job.id,
    QUEUECTL_ATTEMPT: String(job.ordinal),
    QUEUECTL_FENCE: String(job.claim.token),
    QUEUECTL_QUEUE: job.queue,
    QUEUECTL_RUN: cookie,
  };
}
