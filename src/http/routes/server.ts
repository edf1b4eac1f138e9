import { VERSION } from '../../core/version.ts';
import { json, type Route } from '../route.ts';
import { flag, record, text } from '../schema.ts';

export const SERVER_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/api/v1/server',
    summary: 'Which version answers, and whether it changes anything',
    access: 'look',
    answers: {
      200: {
        description: 'the server',
        schema: record({ version: text, read_only: flag, public_metrics: flag }),
      },
    },
    handle: async ({ serving }) =>
      json({ version: VERSION, read_only: serving.readOnly, public_metrics: serving.publicMetrics }),
  },
];
