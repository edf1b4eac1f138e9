/** Texts of the overview, and of the table of running jobs that other pages show, too. */
export const OVERVIEW = {
  jobsCompleted: 'Jobs completed (24h)',
  throughput: 'Throughput (last hour)',
  welcome: 'No jobs yet. Run these two commands to get started:',
  waiting: (count: string) => `${count} waiting`,
  nextRuns: 'Next scheduled runs',
};

export const RUNNING = {
  none: 'No jobs are running.',
  elapsed: 'Elapsed',
  left: 'Time left',
  slow: 'Slower than usual',
  soon: 'Soon',
  about: (time: string) => `About ${time}`,
  usual: (median: string, p99: string) => `Half of these jobs finish within ${median}, 99% within ${p99}`,
};

/** Lines of the list of problems. A name in braces is replaced by a link or a number. */
export const ATTENTION = {
  title: 'Needs attention',
  waiting: (count: number, jobs: string) => `${jobs} ${count === 1 ? 'is' : 'are'} waiting`,
  noWorker: '{waiting}, but no worker is running. Start one with {command}.',
  allStopping: '{waiting}, but all workers are stopping. Start another one with {command}.',
  paused: 'Queue {queue} is paused. {waiting}.',
  notServed: 'No worker serves queue {queue}. {waiting}.',
  oldest: 'The oldest job in queue {queue} has been waiting for {time}.',
  died: '{jobs} failed permanently in the last hour.',
  slow: 'Job {job} has been running for {time}. 99% of the jobs named {name} finish within {p99}.',
  slowUnnamed:
    'Job {job} has been running for {time}. 99% of the unnamed jobs in its queue finish within {p99}.',
  late: 'Schedule {schedule} is late. A worker must be running to create its jobs.',
  finding: '{check}: {result}',
  findingWithFix: '{check}: {result} ({fix})',
};
