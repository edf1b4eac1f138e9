import { json, type Route } from '../route.ts';
import { ref } from '../schema.ts';

const state = ref('Health');

export const HEALTH_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/healthz',
    summary: 'This process answers',
    access: 'open',
    answers: { 200: { description: 'it does', schema: state } },
    handle: async () => json({ status: 'ok' }),
  },
  {
    method: 'GET',
    path: '/readyz',
    summary: 'The store answers',
    access: 'open',
    answers: {
      200: { description: 'it does', schema: state },
      503: { description: 'it does not', schema: state },
    },
    async handle({ serving }) {
      try {
        await serving.check();
        return json({ status: 'ok' });
      } catch {
        return json({ status: 'the store is away' }, 503);
      }
    },
  },
];
