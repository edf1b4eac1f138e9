import { readQueueInput } from '../../actions/queue-input.ts';
import { changeQueue, getQueue, listQueues } from '../../actions/queues.ts';
import { countReasons } from '../../actions/waiting-reasons.ts';
import { listOf, ref } from '../../core/schema.ts';
import { readFields, readFlag } from '../body.ts';
import { refuse } from '../problem.ts';
import { get, json, patch, type Route } from '../route.ts';

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
      const { paused, ...limits } = readFields(body, ['paused', 'concurrency', 'rate', 'priority_aging']);
      const changes = readQueueInput(limits);
      if (paused !== undefined)
        changes.paused = readFlag(paused, 'paused') ? { at: app.clock.now(), by: actor } : null;
      if (Object.keys(changes).length === 0) refuse('invalid-request', 'no changes given');
      return json(await changeQueue(app, params.name!, changes));
    },
  }),
];
