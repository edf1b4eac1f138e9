/** Texts of the charts. */
export const CHARTS = {
  throughput: 'Throughput',
  enqueued: 'Enqueued',
  completed: 'Completed',
  unfinished: 'Unfinished jobs',
  unfinishedLine: 'Waiting or running',
  unfinishedNote:
    'Estimated from the current number of unfinished jobs. Jobs that were retried or deleted manually are not included.',
  range: 'Time range',
  time: 'Time',
  max: (last: string, max: string) => `${last} (max ${max})`,
  asTable: 'Show as table',
};
