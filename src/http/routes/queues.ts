import { readQueueInput } from '../../actions/queue-input.ts';
import { changeQueue, listQueues } from '../../actions/queues.ts';
import { countReasons } from '../../actions/waiting-reasons.ts';
import { QueueError } from '../../core/errors.ts';
import { listOf, ref } from '../../core/schema.ts';
import { fields, flag } from '../body.ts';
import { json, type Route } from '../route.ts';

export const QUEUE_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/api/v1/queues',
    summary: 'List the queues with their limits and job counts',
    access: 'look',
    answers: { 200: { description: 'the queues', schema: listOf(ref('Queue')) } },
    handle: async ({ app }) => json(await listQueues(app)),
  },
  {
    method: 'GET',
    path: '/api/v1/waiting',
    summary: 'Count the waiting jobs by queue and by the reason why they are not running',
    access: 'look',
    answers: { 200: { description: 'the counts', schema: listOf(ref('WaitingCount')) } },
    handle: async ({ app }) => json(await countReasons(app)),
  },
  {
    method: 'GET',
    path: '/api/v1/queues/{name}',
    summary: 'Show a queue',
    access: 'look',
    answers: { 200: { description: 'the queue', schema: ref('Queue') } },
    async handle({ app, params }) {
      const found = (await listQueues(app)).find((queue) => queue.name === params.name);
      if (found === undefined) throw new QueueError('queue-not-found', `there is no queue '${params.name}'`);
      return json(found);
    },
  },
  {
    method: 'PATCH',
    path: '/api/v1/queues/{name}',
    summary: 'Pause or resume a queue, or change its limits, with immediate effect on all workers',
    access: 'change',
    body: ref('QueueChanges'),
    answers: { 200: { description: 'the changed queue', schema: ref('Queue') } },
    async handle({ app, params, body, actor }) {
      const { paused, ...limits } = fields(body, ['paused', 'concurrency', 'rate', 'priority_aging']);
      const changes = readQueueInput(limits);
      if (paused !== undefined)
        changes.paused = flag(paused, 'paused') ? { at: app.clock.now(), by: actor } : null;
      if (Object.keys(changes).length === 0) throw new QueueError('invalid-request', 'no changes given');
      return json(await changeQueue(app, params.name!, changes));
    },
  },
];
