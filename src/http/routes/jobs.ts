import type { JobActionResult } from '../../actions/act.ts';
import type { App } from '../../actions/app.ts';
import { toAttemptObject, withCurrentFacts } from '../../actions/attempts.ts';
import { deleteJobs } from '../../actions/delete.ts';
import { editJob } from '../../actions/edit.ts';
import { enqueue } from '../../actions/enqueue.ts';
import { explain } from '../../actions/explain.ts';
import {
  cancelledWith,
  childrenOf,
  countChildren,
  getJob,
  getJobWithAttempts,
  toChildObject,
} from '../../actions/jobs.ts';
import { retryDelays } from '../../actions/retry-delays.ts';
import { QueueError } from '../../core/errors.ts';
import { FIELDS } from '../../core/field-list.ts';
import { checkIdempotencyKey } from '../../core/id.ts';
import { readJobChanges } from '../../core/job-changes.ts';
import type { JobInput } from '../../core/job-input.ts';
import { listOf, ref } from '../../core/schema.ts';
import { verbFor } from '../../core/words.ts';
import { homeOfOwner } from '../../files/home.ts';
import { readJobBody } from '../body.ts';
import { FILTER_QUERIES, filterOfQuery } from '../filter.ts';
import { type Act, JOB_ACTIONS } from '../job-actions.ts';
import { jobPage, PAGE_QUERIES } from '../job-page.ts';
import { maskedEnqueued, maskedJob } from '../masked-objects.ts';
import { type ApiRequest, del, get, json, patch, post, type Route } from '../route.ts';

const MAX_JOBS = 1000;

/** The editable fields without `timeout_ms`, which sets the same value as `timeout` and has no flag. */
const EDITABLE = FIELDS.filter((field) => field.edit !== undefined && field.flag !== undefined);
const jobAnswer = { description: 'the job', schema: ref('Job') };
const cancelledJobAnswer = { description: 'the cancelled job', schema: ref('CancelledJob') };
const changedJobAnswer = { description: 'the changed job', schema: ref('Job') };

export const JOB_ROUTES: Route[] = [
  get('/api/v1/jobs', {
    summary: 'List jobs, newest first, in pages',
    query: { ...FILTER_QUERIES, ...PAGE_QUERIES },
    answers: { 200: { description: 'a page of jobs', schema: ref('JobPage') } },
    handle: async (request) =>
      json(await jobPage(request.app, filterOfQuery(request, request.app.clock.now()), request)),
  }),
  post('/api/v1/jobs', {
    summary: 'Enqueue one job, or an array of jobs (all or none)',
    headers: {
      'Idempotency-Key':
        'makes the request idempotent: repeating it with the same key and body returns the original jobs',
    },
    body: { anyOf: [ref('NewJob'), { ...listOf(ref('NewJob')), maxItems: MAX_JOBS }] },
    answers: {
      201: {
        description: 'the job, or an array of jobs if an array was sent',
        schema: { anyOf: [ref('Job'), listOf(ref('Job'))] },
      },
    },
    async handle({ app, body, header }) {
      const inputs = readJobs(body, app.clock.now(), header('idempotency-key'));
      const jobs = await enqueue(app, inputs, () => homeOfOwner(app.stateDirectory.path));
      const objects = await maskedEnqueued(app, jobs);
      return json(Array.isArray(body) ? objects : objects[0], 201);
    },
  }),
  get('/api/v1/jobs/{id}', {
    summary: 'Show a job',
    answers: { 200: jobAnswer },
    handle: async ({ app, params }) => json(await maskedJob(app, await getJob(app, params.id!))),
  }),
  patch('/api/v1/jobs/{id}', {
    summary: `Edit a waiting job: ${EDITABLE.map((field) => field.name).join(', ')}`,
    body: ref('JobChanges'),
    answers: { 200: changedJobAnswer },
    handle(request) {
      const changes = readJobChanges(request.body, request.app.clock.now());
      return actOn(request, (app, [id]) => editJob(app, id!, changes));
    },
  }),
  del('/api/v1/jobs/{id}', {
    summary: 'Delete a job that is not running, and delete its output. Jobs that need it are cancelled',
    answers: { 200: { description: 'the deleted job', schema: ref('DeletedJob') } },
    async handle({ app, params }) {
      const id = params.id!;
      await getJob(app, id);
      const result = await deleteJobs(app, [id]);
      refuseUnchanged(id, result);
      return json({ id, also_cancelled: result.alsoCancelled });
    },
  }),
  ...JOB_ACTIONS.flatMap(({ verb, summary, act }) =>
    summary === null
      ? []
      : post(`/api/v1/jobs/{id}/${verb}`, {
          summary,
          answers: { 200: verb === 'cancel' ? cancelledJobAnswer : changedJobAnswer },
          handle: (request) => actOn(request, act),
        }),
  ),
  get('/api/v1/jobs/{id}/attempts', {
    summary: 'List the attempts of a job, oldest first',
    answers: { 200: { description: 'the attempts', schema: listOf(ref('Attempt')) } },
    handle: async ({ app, params }) => {
      const { attempts } = await getJobWithAttempts(app, params.id!);
      return json(withCurrentFacts(app, attempts).map(toAttemptObject));
    },
  }),
  get('/api/v1/jobs/{id}/children', {
    summary:
      'List the first 100 jobs that depend on a job, and count those that would be cancelled with it. A count of 1,000 means 1,000 or more',
    answers: { 200: { description: 'the children', schema: ref('Children') } },
    handle: async ({ app, params }) => json(await childrenAnswer(app, params.id!)),
  }),
  get('/api/v1/jobs/{id}/explain', {
    summary: 'Explain why a job is not running, or how it ended',
    answers: { 200: { description: 'the reasons', schema: ref('Explanation') } },
    handle: async ({ app, params }) => json(await explain(app, params.id!)),
  }),
  get('/api/v1/jobs/{id}/retries', {
    summary: "List the delays before a job's retries",
    answers: { 200: { description: 'the delays', schema: ref('RetryDelays') } },
    handle: async ({ app, params }) => json(await retryDelays(app, params.id!)),
  }),
];

const MAX_CHILDREN = 100;
/** Counting stops here, so that the answer takes the same time for any number of children. */
const MAX_COUNTED = 1000;

async function childrenAnswer(app: App, id: string): Promise<object> {
  await getJob(app, id);
  const children = await childrenOf(app, id, MAX_CHILDREN);
  return {
    children: children.map(toChildObject),
    total: await countChildren(app, id, MAX_COUNTED),
    cancelled_with_it: (await cancelledWith(app, [id], 'cancelled', MAX_COUNTED)).length,
    cancelled_if_deleted: (await cancelledWith(app, [id], 'deleted', MAX_COUNTED)).length,
  };
}

async function actOn({ app, params }: ApiRequest, act: Act): Promise<Response> {
  const id = params.id!;
  await getJob(app, id);
  const result = await act(app, [id]);
  refuseUnchanged(id, result);
  const alsoField = result.alsoCancelled === undefined ? {} : { also_cancelled: result.alsoCancelled };
  return json({ ...(await maskedJob(app, await getJob(app, id))), ...alsoField });
}

function refuseUnchanged(id: string, { unchanged, why }: JobActionResult): void {
  if (unchanged.length > 0)
    throw new QueueError('wrong-state', `job '${id}' was not changed: it ${verbFor(1, why)}`);
}

function readJobs(body: unknown, now: number, key: string | undefined): JobInput[] {
  const given = Array.isArray(body) ? body : [body];
  if (given.length === 0 || given.length > MAX_JOBS)
    throw new QueueError('invalid-request', `an array must contain 1 to ${MAX_JOBS} jobs`);
  const idempotency =
    key === undefined ? {} : { idempotencyKey: checkIdempotencyKey(key, 'Idempotency-Key') };
  return given.map((one) => ({ ...readJobBody(one, now), ...idempotency }));
}
