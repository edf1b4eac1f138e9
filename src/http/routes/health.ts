import { ref } from '../../core/schema.ts';
import { get, json, type Route } from '../route.ts';

const health = ref('Health');

export const HEALTH_ROUTES: Route[] = [
  get('/healthz', {
    summary: 'Check that the server is running',
    access: 'open',
    answers: { 200: { description: 'the server is running', schema: health } },
    handle: async () => json({ status: 'ok' }),
  }),
  get('/readyz', {
    summary: 'Check that the database is available',
    access: 'open',
    answers: {
      200: { description: 'the store is available', schema: health },
      503: { description: 'the store is unavailable', schema: health },
    },
    async handle({ serving }) {
      try {
        await serving.check();
        return json({ status: 'ok' });
      } catch {
        return json({ status: 'the store is unavailable' }, 503);
      }
    },
  }),
];
