/** Texts of the metrics page, and of the table of job names that a queue shows, too. */
export const METRICS = {
  enqueued: '{count} enqueued',
  attempts: '{count} attempts',
  failed: '{count} attempts failed',
  failedPart: '{count} attempts failed ({part})',
  dead: '{count} dead',
  wait: 'Wait time: median {p50}, p95 {p95}',
  run: 'Run time: median {p50}, p95 {p95}',
  slowest: (range: string) => `Slowest job names (${range})`,
  elsewhere: 'Use these metrics elsewhere',
  prometheus: 'Prometheus',
  publicMetrics: 'Anyone can read the metrics, because this server was started with --public-metrics.',
  privateMetrics:
    'Send a token as a bearer token (the read-only token is enough), or start the server with --public-metrics.',
  grafana: 'Grafana',
  download: 'Download the dashboard',
};

export const NAMES = {
  none: 'No attempts ended in this period.',
  waitP95: 'Wait time p95',
  runP50: 'Run time p50',
  runP95: 'Run time p95',
  runP99: 'Run time p99',
};
