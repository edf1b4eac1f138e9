import type { ClaimedJob } from '../core/job.ts';

/** Settings of the runtime inside our executable: they are about queuectl, never about a job or a worker. */
const RUNTIME = /^(BUN_|NODE_OPTIONS$)/;
/** The trace context of whoever started the worker. In a job it would add the job to a trace that it is no part of. */
const TRACE_CONTEXT = /^(TRACEPARENT|TRACESTATE|BAGGAGE)$/;
/** Where a process is made to die: the worker that was meant, not what its jobs start. */
export const CRASH_AT = 'QUEUECTL_CRASH_AT';

export function withoutRuntime(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !RUNTIME.test(name)));
}

/** The secrets of a job that it would not get from this worker; the others come with all that the worker has. */
export function missingSecrets(worker: NodeJS.ProcessEnv, job: ClaimedJob): string[] {
  const given = withoutRuntime(job.secretEnv.length === 0 ? {} : worker);
  return job.secretEnv.filter((name) => given[name] === undefined);
}

/** What any program may count on. Anything else of the worker's (tokens, agents, settings) a job with a clean one has to ask for. */
const BASIC = /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TZ|TMPDIR)$/;

function basics(environment: NodeJS.ProcessEnv, secrets: readonly string[]): NodeJS.ProcessEnv {
  const wanted = ([name]: [string, unknown]): boolean => BASIC.test(name) || secrets.includes(name);
  return Object.fromEntries(Object.entries(environment).filter(wanted));
}

function withoutTrace(environment: NodeJS.ProcessEnv, secrets: readonly string[]): NodeJS.ProcessEnv {
  const kept = ([name]: [string, unknown]): boolean => !TRACE_CONTEXT.test(name) || secrets.includes(name);
  return Object.fromEntries(Object.entries(environment).filter(kept));
}

/** What a command sees: the worker's environment, the job's own, and who it is. */
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
