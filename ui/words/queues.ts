/** Texts of the list of queues, the page of one queue and its limits. */
export const QUEUES = {
  none: 'No queues yet. Add a job to create one:',
  maxConcurrent: 'Max concurrent jobs',
  rateLimit: 'Rate limit',
  enqueuedHour: 'Enqueued (1h)',
  attemptsHour: 'Attempts (1h)',
  limits: 'Limits',
};

export const QUEUE = {
  label: (name: string) => `Queue ${name}`,
  missing: (name: string) => `Queue ${name} does not exist. Add a job to create it:`,
  all: 'All queues',
  noConcurrencyLimit: 'No concurrency limit',
  maxConcurrent: (count: string) => `Max concurrent jobs: ${count}`,
  noRateLimit: 'No rate limit',
  rateLimit: (rate: string) => `Rate limit: ${rate}`,
  notServed: 'No worker serves this queue',
  served: 'Served by {workers} with {slots}',
  perMinute: (count: string) => `${count}/min`,
  enqueued: 'Enqueued',
  waitP95: 'Wait time p95 (1h)',
  runP95: 'Run time p95 (1h)',
  busiest: (range: string) => `Busiest job names (${range})`,
};

export const LIMITS = {
  title: (name: string) => `Limits of queue ${name}`,
  concurrency: 'Max concurrent jobs',
  concurrencyHint: 'no limit',
  rate: 'Rate limit',
  rateHint: 'such as 10/s; empty for no limit',
};
