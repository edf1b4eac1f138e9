/** Texts of the list of schedules, the page of one schedule and its form. */
export const OVERLAP: Record<string, string> = {
  skip: 'Skip if the previous run is still going',
  queue: 'Wait until the previous run has ended',
  allow: 'Run in parallel',
};

export const MISSED: Record<string, string> = {
  none: 'Skip all',
  one: 'Run the latest one',
  all: 'Run all',
};

export const SCHEDULES = {
  none: 'No schedules yet. Create one that runs every night:',
  create: 'New schedule',
  queue: 'Queue {queue}',
  next: 'Next run {time} ({when})',
  last: 'Last run {when}',
  waiting: (runs: string) => `${runs} waiting`,
};

export const SCHEDULE = {
  label: (name: string) => `Schedule ${name}`,
  missing: (name: string) => `Schedule ${name} does not exist. It may have been removed.`,
  all: 'All schedules',
  when: 'When',
  job: 'Job',
  nextRuns: 'Next runs',
  nextRunsIfResumed: 'Next runs if resumed',
  lastRuns: 'Last runs',
  notRun: 'This schedule has not run yet.',
  last: 'Last run {time} ({when})',
  lastAs: 'Last run {time} ({when}) as job {job}',
  allJobs: 'All jobs of this schedule',
  runs: 'Runs',
  overlap: 'Overlap',
  missed: 'Missed runs',
  waitingRuns: 'Waiting runs',
  inZone: (time: string, zone: string) => `, ${time} in ${zone}`,
  remove: 'Remove',
};

export const SCHEDULE_FORM = {
  newTitle: 'New schedule',
  editTitle: (name: string) => `Edit schedule ${name}`,
  nameHint: 'nightly',
  kind: 'Type',
  cron: 'Cron',
  interval: 'Fixed interval',
  every: 'Every',
  everyHint: 'such as 90s, 5m or 1h',
  expression: 'Cron expression',
  expressionHint: 'minute hour day month weekday',
  timeZone: 'Time zone',
  queueHint: 'default',
  overlap: 'Overlap',
  missed: 'Missed runs',
  create: 'Create',
  created: (name: string) => `Schedule ${name} created`,
  changed: (name: string) => `Schedule ${name} changed`,
};

export const SCHEDULE_ACTS = {
  ran: (name: string) => `Schedule ${name} enqueued a job`,
  paused: (name: string) => `Schedule ${name} paused`,
  resumed: (name: string) => `Schedule ${name} resumed`,
  removed: (name: string) => `Schedule ${name} removed`,
  removeTitle: (name: string) => `Remove schedule ${name}?`,
  removeDetail: 'The schedule creates no more jobs. Existing jobs are kept.',
};
