import type { App } from '../../actions/app.ts';
import type { JobActionResult } from '../../actions/jobs/act.ts';
import { toAttemptObject, withCurrentFacts } from '../../actions/jobs/attempts.ts';
import { enqueue } from '../../actions/jobs/enqueue.ts';
import { errorGroups } from '../../actions/jobs/error-groups.ts';
import { explain } from '../../actions/jobs/explain.ts';
import { type ActionOptions, JOB_ACTIONS, type JobVerb } from '../../actions/jobs/job-actions.ts';
import {
  cancelledWith,
  childrenOf,
  countChildren,
  enqueuedJobObjects,
  getJob,
  getJobWithAttempts,
  jobObject,
  pageOfJobs,
  toChildObject,
} from '../../actions/jobs/jobs.ts';
import { retryDelays } from '../../actions/jobs/retry.ts';
import { readOutputRange } from '../../actions/output/logs.ts';
import { QueueError } from '../../core/errors.ts';
import { FIELDS } from '../../core/jobs/field-list.ts';
import type { JobFilter } from '../../core/jobs/filter.ts';
import { checkIdempotencyKey } from '../../core/jobs/id.ts';
import type { Job, Stream } from '../../core/jobs/job.ts';
import { readJobChanges } from '../../core/jobs/job-changes.ts';
import type { JobInput } from '../../core/jobs/job-input.ts';
import { type JobObject, toJobObject } from '../../core/jobs/job-object.ts';
import { masked } from '../../core/text/mask.ts';
import { verbFor } from '../../core/text/words.ts';
import { listOf, ref } from '../../core/wire/schema.ts';
import { ERROR_GROUPS } from '../../core/wire/wire.ts';
import { homeOfOwner } from '../../files/home.ts';
import { refuse } from '../problem.ts';
import { filterOfQuery, numberOf, type QueryReader, readJobBody } from '../read-input.ts';
import { type ApiRequest, del, get, json, patch, post, type Route } from '../route.ts';
import { FILTER_QUERIES } from '../schemas.ts';

/** Returns a job as the HTTP API shows it, with secrets masked. */
export async function maskedJob(app: App, job: Job): Promise<JobObject> {
  return masked(await jobObject(app, job));
}

const PAGE_QUERIES: Record<string, string> = {
  limit: '1 to 1000 (50)',
  cursor:
    'the next_cursor of the previous page. There may be more pages until it is null, even after a page without jobs',
};

export async function jobPage(app: App, filter: JobFilter, { one }: { one: QueryReader }) {
  const limit = numberOf(one, 'limit', { min: 1, max: 1000, integer: true }, 50);
  const from = readCursor(one('cursor'));
  const { jobs, next, count } = await pageOfJobs(app, filter, from, limit);
  return {
    jobs: jobs.map((job) => masked(toJobObject(job))),
    next_cursor: next === null ? null : String(next),
    count,
  };
}

function readCursor(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (!/^[1-9]\d{0,14}$/.test(text))
    refuse('invalid-request', 'cursor must be the next_cursor of an earlier page');
  return Number(text);
}

const MAX_JOBS = 1000;

/** The editable fields without `timeout_ms`, which sets the same value as `timeout` and has no flag. */
const EDITABLE = FIELDS.filter((field) => field.edit !== undefined && field.flag !== undefined);
const jobAnswer = { description: 'the job', schema: ref('Job') };
const cancelledJobAnswer = { description: 'the cancelled job', schema: ref('CancelledJob') };
const changedJobAnswer = { description: 'the changed job', schema: ref('Job') };

const OFFSET = { min: -1e15, max: 1e15, integer: true };
const DEFAULT_BYTES = 256 * 1024;
const BYTES = { min: 1, max: 4 * 1024 * 1024, integer: true };
const ORDINAL = { min: 1, max: 1e9, integer: true };

const ANSWER_HEADERS = {
  'queuectl-attempt': 'number of the attempt; 0 if the job has not run yet',
  'queuectl-from': 'offset of the first byte',
  'queuectl-next': 'offset to continue from',
  'queuectl-size': 'size of the output so far, in bytes',
  'queuectl-over': 'true if the attempt has ended and the output is complete',
  'queuectl-truncated': 'true if the output exceeded its limit and the middle was dropped',
};

const ACTION_SUMMARIES = {
  cancel: 'Cancel a job: stop it if it is running, or keep it from running',
  retry: 'Put a dead, cancelled or failed job back in its queue',
  hold: 'Hold a waiting job, so that it does not run',
  release: 'Release a held job',
};

export const JOB_ROUTES: Route[] = [
  get('/api/v1/jobs', {
    summary: 'List jobs, newest first, in pages',
    query: { ...FILTER_QUERIES, ...PAGE_QUERIES },
    answers: { 200: { description: 'a page of jobs', schema: ref('JobPage') } },
    handle: async (request) => json(await jobPage(request.app, filterOfQuery(request.all), request)),
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
      const objects = (await enqueuedJobObjects(app, jobs)).map(masked);
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
      return actOn(request, 'edit', { changes, strict: true });
    },
  }),
  del('/api/v1/jobs/{id}', {
    summary: 'Delete a job that is not running, and delete its output. Jobs that need it are cancelled',
    answers: { 200: { description: 'the deleted job', schema: ref('DeletedJob') } },
    async handle({ app, params }) {
      const { alsoCancelled } = await changeJob(app, params.id!, 'delete');
      return json({ id: params.id, also_cancelled: alsoCancelled });
    },
  }),
  ...Object.entries(ACTION_SUMMARIES).map(([verb, summary]) =>
    post(`/api/v1/jobs/{id}/${verb}`, {
      summary,
      answers: { 200: verb === 'cancel' ? cancelledJobAnswer : changedJobAnswer },
      handle: (request) => actOn(request, verb as keyof typeof ACTION_SUMMARIES),
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
  get('/api/v1/jobs/{id}/output', {
    summary: 'Read a byte range of the output of an attempt (the queuectl-* headers give its position)',
    query: {
      attempt: 'number of the attempt (default: the last one)',
      from: 'offset of the first byte; a negative offset counts from the end (default: 0)',
      limit: 'maximum number of bytes, up to 4194304 (default: 262144)',
      stream: 'stdout or stderr, for a job with split output (default: stdout)',
    },
    answers: { 200: { description: 'the bytes', schema: null, type: 'text/plain', headers: ANSWER_HEADERS } },
    async handle({ app, params, one }) {
      const found = await readOutputRange(app, params.id!, {
        ordinal: numberOf(one, 'attempt', ORDINAL, null),
        from: numberOf(one, 'from', OFFSET, 0),
        maxBytes: numberOf(one, 'limit', BYTES, DEFAULT_BYTES),
        stream: streamOf(one('stream')),
      });
      return new Response(found.bytes as Uint8Array<ArrayBuffer>, {
        headers: {
          'content-type': 'text/plain; charset=utf-8',
          // A browser may show the output in spite of content-disposition, so the sandbox is needed, too.
          'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
          'content-disposition': 'attachment; filename="output.log"',
          'queuectl-attempt': String(found.attempt?.ordinal ?? 0),
          'queuectl-from': String(found.from),
          'queuectl-next': String(found.next),
          'queuectl-size': String(found.size),
          'queuectl-over': String(found.attempt !== null && found.attempt.finishedAt !== null),
          'queuectl-truncated': String(found.attempt?.truncated ?? false),
        },
      });
    },
  }),
  get('/api/v1/dlq/groups', {
    summary: 'Group the newest 10,000 dead jobs by error',
    answers: { 200: { description: 'the groups, largest first', schema: ERROR_GROUPS } },
    handle: async ({ app }) => json(await errorGroups(app)),
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

async function actOn({ app, params }: ApiRequest, verb: JobVerb, options?: ActionOptions): Promise<Response> {
  const id = params.id!;
  const { alsoCancelled } = await changeJob(app, id, verb, options);
  const alsoField = alsoCancelled === undefined ? {} : { also_cancelled: alsoCancelled };
  return json({ ...(await maskedJob(app, await getJob(app, id))), ...alsoField });
}

/** Acts on one job. Throws if the action does not apply to it. */
async function changeJob(
  app: App,
  id: string,
  verb: JobVerb,
  options?: ActionOptions,
): Promise<JobActionResult> {
  await getJob(app, id);
  const result = await JOB_ACTIONS[verb].act(app, [id], options);
  if (result.unchanged.length > 0)
    throw new QueueError('wrong-state', `job '${id}' was not changed: it ${verbFor(1, result.why)}`);
  return result;
}

function readJobs(body: unknown, now: number, key: string | undefined): JobInput[] {
  const given = Array.isArray(body) ? body : [body];
  if (given.length === 0 || given.length > MAX_JOBS)
    throw new QueueError('invalid-request', `an array must contain 1 to ${MAX_JOBS} jobs`);
  const idempotency =
    key === undefined ? {} : { idempotencyKey: checkIdempotencyKey(key, 'Idempotency-Key') };
  return given.map((one) => ({ ...readJobBody(one, now), ...idempotency }));
}

function streamOf(text: string | undefined): Stream | null {
  if (text === undefined || text === 'stdout' || text === 'stderr') return text ?? null;
  return refuse('invalid-value', `stream must be stdout or stderr, not '${text}'`);
}
