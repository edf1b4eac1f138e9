import { openApi } from './openapi.ts';
import { json, type Route } from './route.ts';
import { DLQ_ROUTES } from './routes/dlq.ts';
import { DOCTOR_ROUTES } from './routes/doctor.ts';
import { EVENT_ROUTES } from './routes/events.ts';
import { HEALTH_ROUTES } from './routes/health.ts';
import { JOB_ROUTES } from './routes/jobs.ts';
import { METRICS_ROUTES } from './routes/metrics.ts';
import { OPERATION_ROUTES } from './routes/operations.ts';
import { OUTPUT_ROUTES } from './routes/output.ts';
import { QUEUE_ROUTES } from './routes/queues.ts';
import { SCHEDULE_ROUTES } from './routes/schedules.ts';
import { SERVER_ROUTES } from './routes/server.ts';
import { SESSION_ROUTES } from './routes/session.ts';
import { SETTING_ROUTES } from './routes/settings.ts';
import { STATS_ROUTES } from './routes/stats.ts';
import { WORKER_ROUTES } from './routes/workers.ts';

/** All routes. The router, the access checks, the OpenAPI document and the tests read this table. */
export const ROUTES: Route[] = [
  ...JOB_ROUTES,
  ...OUTPUT_ROUTES,
  ...OPERATION_ROUTES,
  ...QUEUE_ROUTES,
  ...SCHEDULE_ROUTES,
  ...WORKER_ROUTES,
  ...STATS_ROUTES,
  ...METRICS_ROUTES,
  ...DOCTOR_ROUTES,
  ...SETTING_ROUTES,
  ...EVENT_ROUTES,
  ...HEALTH_ROUTES,
  ...DLQ_ROUTES,
  ...SERVER_ROUTES,
  ...SESSION_ROUTES,
  {
    method: 'GET',
    path: '/api/v1/openapi.json',
    summary: 'Get the OpenAPI document',
    access: 'look',
    answers: { 200: { description: 'OpenAPI 3.1', schema: { type: 'object' } } },
    handle: async () => json(openApi(ROUTES)),
  },
];
