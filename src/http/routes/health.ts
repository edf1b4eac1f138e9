import { ref } from '../../core/schema.ts';
import { json, type Route } from '../route.ts';

const state = ref('Health');

export const HEALTH_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/healthz',
    summary: 'Check that the server is running',
    access: 'open',
    answers: { 200: { description: 'the server is running', schema: state } },
    handle: async () => json({ status: 'ok' }),
  },
  {
    method: 'GET',
    path: '/readyz',
    summary: 'Check that the database is available',
    access: 'open',
    answers: {
      200: { description: 'the store is available', schema: state },
      503: { description: 'the store is unavailable', schema: state },
    },
    async handle({ serving }) {
      try {
        await serving.check();
        return json({ status: 'ok' });
      } catch {
        return json({ status: 'the store is unavailable' }, 503);
      }
    },
  },
];
