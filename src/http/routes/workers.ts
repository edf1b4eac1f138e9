import { orderStop } from '../../actions/stop-workers.ts';
import { listWorkers } from '../../actions/workers.ts';
import { listOf, ref } from '../../core/schema.ts';
import { STOP_ORDERS } from '../../core/stop-order.ts';
import { readFields } from '../body.ts';
import { refuse } from '../problem.ts';
import { get, json, post, type Route } from '../route.ts';

const workerAnswer = { description: 'the worker', schema: ref('Worker') };

export const WORKER_ROUTES: Route[] = [
  get('/api/v1/workers', {
    summary: 'List the active workers and their running jobs',
    answers: { 200: { description: 'the workers', schema: listOf(ref('Worker')) } },
    handle: async ({ app }) => json(await listWorkers(app)),
  }),
  get('/api/v1/workers/{id}', {
    summary: 'Show a worker',
    answers: { 200: workerAnswer },
    async handle({ app, params }) {
      const found = (await listWorkers(app)).find(({ id }) => id === params.id);
      if (found === undefined) refuse('worker-not-found', `there is no worker '${params.id}'`);
      return json(found);
    },
  }),
  post('/api/v1/workers/{id}/stop', {
    summary:
      'Stop a worker in one of three modes: drain (finish its jobs), leave (keep them running) or force (stop them)',
    body: ref('StopWorker'),
    answers: {
      202: {
        description: 'the stop was requested; returns all active workers',
        schema: listOf(ref('Worker')),
      },
    },
    async handle({ app, params, body }) {
      const given = readFields(body, ['order']).order;
      const order = STOP_ORDERS.find((one) => one === given);
      if (order === undefined) refuse('invalid-request', `order must be one of ${STOP_ORDERS.join(', ')}`);
      await orderStop(app, order, { workerIds: [params.id!] });
      return json(await listWorkers(app), 202);
    },
  }),
];
