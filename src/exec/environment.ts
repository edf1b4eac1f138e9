import { existsSync } from 'node:fs';
import { QueueError } from '../core/errors.ts';
import type { ClaimedJob } from '../core/jobs/job.ts';
import { CRASH_AT_VARIABLE, STORE_VARIABLE } from './program.ts';

/** Tells whether this is a setting of the runtime in our executable. These are for queuectl only, so jobs and workers do not get them. */
const isForRuntime = (name: string): boolean => /^(BUN_|NODE_OPTIONS$)/.test(name);
/** Tells whether this is a part of the trace context of the process that started the worker. Its jobs are not part of that trace. */
const isTraceContext = (name: string): boolean => /^(TRACEPARENT|TRACESTATE|BAGGAGE)$/.test(name);

export function withoutRuntimeVariables(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !isForRuntime(name)));
}

/** Returns the names of the job's secrets that the worker does not have, or does not pass on because they are for the runtime. */
export function missingSecrets(workerEnvironment: NodeJS.ProcessEnv, { secretEnv }: ClaimedJob): string[] {
  return secretEnv.filter((name) => workerEnvironment[name] === undefined || isForRuntime(name));
}

/** Tells whether jobs with a clean environment get this variable of the worker. Such jobs have to name others, such as tokens. */
const isBasic = (name: string): boolean =>
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR)$/.test(name);

/** Returns the environment of a command: variables of the worker, the job's own variables, and those that identify the attempt. */
export function jobEnvironment(
  workerEnvironment: NodeJS.ProcessEnv,
  job: ClaimedJob,
  cookie: string,
): NodeJS.ProcessEnv {
  const inherited = withoutRuntimeVariables(workerEnvironment);
  for (const name of [CRASH_AT_VARIABLE, STORE_VARIABLE]) delete inherited[name];
  const isInherited = (name: string): boolean => (job.cleanEnv ? isBasic(name) : !isTraceContext(name));
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

/** The character with which the runtime replaces bytes that are not valid UTF-8. */
const REPLACEMENT = '\uFFFD';

/** Returns the directory unchanged. Throws if the runtime could not decode its name, because then the job would run elsewhere. */
export function checkDirectoryName(directory: string): string {
  if (!directory.includes(REPLACEMENT) || existsSync(directory)) return directory;
  throw new QueueError(
    'invalid-job',
    `the name of the working directory is not valid UTF-8: ${directory}`,
    'rename the directory, or use --cwd DIR',
  );
}
