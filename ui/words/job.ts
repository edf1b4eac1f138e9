/** Texts of the page of one job. */
export const JOB = {
  tabs: {
    timeline: 'Timeline',
    attempts: 'Attempts',
    output: 'Output',
    spec: 'Spec',
    related: 'Related',
    events: 'Events',
    json: 'JSON',
  },
  sections: 'Sections of the job',
  label: (id: string) => `Job ${id}`,
  missing: (id: string) => `Job ${id} does not exist. It may have been deleted or pruned.`,
  all: 'All jobs',
  copyJson: 'Copy the JSON',
  copy: 'Copy',
  duplicate: 'Duplicate',
  why: 'Why the job is waiting, or how it ended',
  attempts: (used: number, max: number) => `${used} of ${max} attempts`,
  runningAttempt: (attempt: number, max: number) => `Attempt ${attempt} of ${max}`,
  running: 'Running for {time}',
  /** Sentences of the server about a running job, with the times filled in. */
  runningSince: '{before} for {time}, since {start}{after}',
  startedBefore: '{before} {time}, at {start}{after}',
  priority: (priority: number) => `Priority ${priority}`,
  exitCode: (code: number, signal: string | null) =>
    signal === null ? `Exit code ${code}` : `Exit code ${code} (${signal})`,
  runTime: (time: string) => `Run time ${time}`,
  children: (jobs: string) => `${jobs} waiting for it`,
  queue: 'Queue {queue}',
  enqueued: 'Enqueued {when}',
};

export const TIMELINE = {
  kinds: {
    scheduled: 'Scheduled',
    waiting: 'Waiting',
    running: 'Running',
    completed: 'Completed',
    failed: 'Failed',
    backoff: 'Backoff',
  },
  notDue: 'Not due yet',
  waiting: 'Waiting to start',
  backoff: 'Waiting for the retry',
  attempt: (attempt: number, outcome: string) => `Attempt ${attempt}: ${outcome}`,
  total: (time: string) => `${time} in total`,
  next: 'Next attempt {when}',
};

/** How an attempt ended. These follow a colon, so they start in lower case. */
export const OUTCOMES = {
  running: 'running',
  exited: (code: number) => `exit code ${code}`,
  killed: (signal: string) => `killed by ${signal}`,
  others: {
    timeout: 'timed out',
    cancelled: 'cancelled',
    stopped: 'stopped',
    'spawn-error': 'could not be started',
    'never-started': 'not started',
    lost: 'lost',
  } as Record<string, string>,
};

export const ATTEMPTS = {
  none: 'This job has not run yet.',
  attempt: 'Attempt',
  outcome: 'Outcome',
  leftBehind: (pids: string) => `Left processes running: ${pids}`,
  follow: 'Follow',
};

export const OUTPUT = {
  none: 'This job has not run yet, so it has no output.',
  empty: 'This attempt wrote no output.',
  truncated: 'The output is larger than the setting output-limit allows. The middle was left out.',
  otherHost: (file: string, host: string) =>
    `The output file is ${file} on the host ${host}. Of long output, only the beginning and the end are shown here.`,
  noLine: (line: string) => `Line ${line} does not exist, or it comes after the part that was left out`,
  noError: 'No line looks like an error',
  noErrorWithin: (size: string) => `No line in the first ${size} looks like an error`,
  attempt: 'Attempt',
  search: 'Search the loaded output',
  searchHint: 'Search',
  noMatch: 'No match in the loaded output',
  match: (at: string, of: string) => `${at} of ${of}`,
  follow: 'Follow',
  wrap: 'Wrap',
  start: 'Start',
  end: 'End',
  firstError: 'First error',
  download: 'Download',
  cli: 'CLI',
  byte: (offset: string) => `Byte ${offset}`,
};

export const SPEC = {
  arguments: 'Arguments',
  backoff: 'Backoff',
  retryDelays: 'Retry delays',
  retryOn: 'Retry on exit codes',
  noRetryOn: 'No retry on exit codes',
  atMostOnce: 'At most once',
  atMostOnceYes: 'Yes: queuectl never starts it again automatically',
  uniqueKey: 'Unique key',
  onComplete: 'Hook on completion',
  onFailure: 'Hook on failure',
  onDead: 'Hook on permanent failure',
  stdin: 'Standard input',
  separateStreams: 'stdout and stderr are stored separately',
  secrets: 'Secret variables',
  cleanEnvironment: 'Clean environment',
  crashes: 'Crashes',
  runAt: 'Run at',
  hidden: '•••••• (hidden because it looks like a secret)',
  base: (base: number) => `base ${base}`,
  delay: (time: string) => `delay ${time}`,
  max: (time: string) => `max ${time}`,
  jitter: (jitter: number) => `jitter ${jitter}`,
  noRetry: 'No retries',
  delays: (delays: string, total: string) => `${delays} (${total} in total)`,
  reduced: (part: string) => `, each randomly reduced by up to ${part}`,
};

export const RELATED = {
  after: {
    ok: 'Runs after job {job} has completed',
    any: 'Runs after job {job} has ended',
    notok: 'Runs after job {job} has failed permanently or been cancelled',
  } as Record<string, string>,
  children: 'Jobs that depend on this job',
  childrenMore: (count: string) => `and ${count} more`,
  child: {
    ok: 'after this job has completed',
    any: 'after this job has ended',
    notok: 'after this job has failed permanently or was cancelled',
  } as Record<string, string>,
  schedule: 'Created by schedule {schedule}',
  find: 'Find jobs with the',
  sameCommand: 'same command',
  sameError: 'same error',
  sameExitCode: 'same exit code',
  sameQueue: 'same queue',
  others: (name: string) => `Other jobs named ${name}`,
  none: 'No other jobs have this name.',
};

/** The forms for a new job and for changing one that waits. */
export const JOB_FORM = {
  newTitle: 'New job',
  editTitle: (id: string) => `Edit job ${id}`,
  nameHint: 'used to group similar jobs',
  queueHint: 'default',
  delay: 'Delay',
  delayHint: 'such as 10m',
  runAt: 'Run at',
  runAtHint: '+10m or 2030-01-31T09:00:00Z',
  directoryHint: 'home directory',
  uniqueKey: 'Unique key',
  uniqueKeyHint: 'one unfinished job per key',
  tags: 'Tags (one per line)',
  tagsHint: 'customer=42',
  environment: 'Environment variables (one per line)',
  environmentHint: 'NAME=value',
  enqueue: 'Enqueue',
  enqueued: (id: string) => `Job ${id} enqueued`,
  existing: (id: string) => `Job ${id} already has this unique key`,
};
