import { activeWorkers, toWorkerObject } from '../../actions/workers.ts';
import { json, type Route } from '../route.ts';
import { listOf, ref } from '../schema.ts';

export const WORKER_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/api/v1/workers',
    summary: 'The workers that live, and what they run',
    access: 'look',
    answers: { 200: { description: 'the workers', schema: listOf(ref('Worker')) } },
    handle: async ({ app }) => json((await activeWorkers(app)).map(toWorkerObject)),
  },
];
