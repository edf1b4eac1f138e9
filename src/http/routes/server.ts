import { boolean, record, text } from '../../core/schema.ts';
import { VERSION } from '../../core/version.ts';
import { get, json, type Route } from '../route.ts';

export const SERVER_ROUTES: Route[] = [
  get('/api/v1/server', {
    summary: "Show the server's version and whether this token or session can make changes",
    answers: {
      200: {
        description: 'the server',
        schema: record({ version: text, read_only: boolean, public_metrics: boolean }),
      },
    },
    async handle({ serving, grant }) {
      const readOnly = serving.readOnly || grant.role === 'read-only';
      return json({ version: VERSION, read_only: readOnly, public_metrics: serving.publicMetrics });
    },
  }),
];
