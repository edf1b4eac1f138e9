import { metricsSnapshot } from '../../actions/metrics.ts';
import { VERSION } from '../../core/version.ts';
import { openMetrics } from '../../observe/metrics.ts';
import type { Route } from '../route.ts';

const TYPE = 'application/openmetrics-text';

export const METRICS_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/metrics',
    summary: 'Get metrics for Prometheus (without a token if the server was started with --public-metrics)',
    access: 'look',
    answers: { 200: { description: 'OpenMetrics', schema: null, type: TYPE } },
    handle: async ({ app }) =>
      new Response(openMetrics(await metricsSnapshot(app, VERSION)), {
        headers: { 'content-type': `${TYPE}; version=1.0.0; charset=utf-8` },
      }),
  },
];
