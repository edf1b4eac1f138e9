import { countReasons } from '../../actions/jobs/waiting-reasons.ts';
import { changeQueue, getQueue, listQueues, readQueueInput } from '../../actions/queues.ts';
import { orderStop } from '../../actions/workers/stop-workers.ts';
import { listWorkers } from '../../actions/workers/workers.ts';
import { STOP_ORDERS } from '../../core/signals.ts';
import { listOf, ref } from '../../core/wire/schema.ts';
import { refuse } from '../problem.ts';
import { readFields, readFlag } from '../read-input.ts';
import { get, json, patch, post, type Route } from '../route.ts';
import { INPUTS } from '../schemas.ts';

const workerAnswer = { description: 'the worker', schema: ref('Worker') };

export const QUEUE_ROUTES: Route[] = [
  get('/api/v1/queues', {
    summary: 'List the queues with their limits and job counts',
    answers: { 200: { description: 'the queues', schema: listOf(ref('Queue')) } },
    handle: async ({ app }) => json(await listQueues(app)),
  }),
  get('/api/v1/waiting', {
    summary: 'Count the waiting jobs by queue and by the reason why they are not running',
    answers: { 200: { description: 'the counts', schema: listOf(ref('WaitingCount')) } },
    handle: async ({ app }) => json(await countReasons(app)),
  }),
  get('/api/v1/queues/{name}', {
    summary: 'Show a queue',
    answers: { 200: { description: 'the queue', schema: ref('Queue') } },
    handle: async ({ app, params }) => json(await getQueue(app, params.name!)),
  }),
  patch('/api/v1/queues/{name}', {
    summary: 'Pause or resume a queue, or change its limits, with immediate effect on all workers',
    body: ref('QueueChanges'),
    answers: { 200: { description: 'the changed queue', schema: ref('Queue') } },
    async handle({ app, params, body, actor }) {
      const { paused, ...limits } = readFields(body, INPUTS.QueueChanges);
      const changes = readQueueInput(limits);
      if (paused !== undefined)
        changes.paused = readFlag(paused, 'paused') ? { at: app.clock.now(), by: actor } : null;
      if (Object.keys(changes).length === 0) refuse('invalid-request', 'no changes given');
      return json(await changeQueue(app, params.name!, changes));
    },
  }),
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
      const given = readFields(body, INPUTS.StopWorker).order;
      const order = STOP_ORDERS.find((one) => one === given);
      if (order === undefined) refuse('invalid-request', `order must be one of ${STOP_ORDERS.join(', ')}`);
      await orderStop(app, order, { workerIds: [params.id!] });
      return json(await listWorkers(app), 202);
    },
  }),
];
