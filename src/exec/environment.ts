import type { ClaimedJob } from '../core/job.ts';

/** Matches the settings of the runtime in our executable. They are for queuectl only, so jobs and workers do not get them. */
const RUNTIME_VARIABLES = /^(BUN_|NODE_OPTIONS$)/;
/** Matches the trace context of the process that started the worker. Its jobs are not part of that trace. */
const TRACE_CONTEXT = /^(TRACEPARENT|TRACESTATE|BAGGAGE)$/;
/** The variable that makes a worker die at a crash point, for tests. Jobs do not inherit it. */
export const CRASH_AT_VARIABLE = 'QUEUECTL_CRASH_AT';

/**
 * The variable that tells a process of queuectl its store. It is not an argument, because every user of the machine can see
 * arguments, and the URL of a store may have a password. Jobs do not inherit it. They get QUEUECTL_DB if the user has set it.
 */
export const STORE_VARIABLE = 'QUEUECTL_WORKER_STORE';

export function withoutRuntimeVariables(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !RUNTIME_VARIABLES.test(name)));
}

/** Returns the names of the job's secrets that the worker does not have, or does not pass on because they are for the runtime. */
export function missingSecrets(workerEnvironment: NodeJS.ProcessEnv, { secretEnv }: ClaimedJob): string[] {
  return secretEnv.filter((name) => workerEnvironment[name] === undefined || RUNTIME_VARIABLES.test(name));
}

/** Matches the worker's variables that jobs with a clean environment get. Such jobs have to name others, such as tokens. */
const BASIC_VARIABLES = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR)$/;

/** Returns the environment of a command: variables of the worker, the job's own variables, and those that identify the attempt. */
export function jobEnvironment(
  workerEnvironment: NodeJS.ProcessEnv,
  job: ClaimedJob,
  cookie: string,
): NodeJS.ProcessEnv {
  const inherited = withoutRuntimeVariables(workerEnvironment);
  for (const name of [CRASH_AT_VARIABLE, STORE_VARIABLE]) delete inherited[name];
  const isInherited = (name: string): boolean =>
    job.cleanEnv ? BASIC_VARIABLES.test(name) : !TRACE_CONTEXT.test(name);
  const isKept = ([name]: [string, unknown]): boolean => isInherited(name) || job.secretEnv.includes(name);
  return {
    ...Object.fromEntries(Object.entries(inherited).filter(isKept)),
    PWD: job.cwd,
    ...job.env,
    QUEUECTL_JOB_ID: job.id,
    QUEUECTL_ATTEMPT: String(job.ordinal),
    QUEUECTL_FENCE: String(job.claim.token),
    QUEUECTL_QUEUE: job.queue,
    QUEUECTL_RUN: cookie,
  };
}
