import { type App, checkOpen } from '../../actions/app.ts';
import { noteEvent } from '../../actions/events.ts';
import { jobIdsOfGroup } from '../../actions/jobs/error-groups.ts';
import { JOB_ACTIONS } from '../../actions/jobs/job-actions.ts';
import { listPages } from '../../actions/jobs/jobs.ts';
import type { JobFilter } from '../../core/jobs/filter.ts';
import { BULK_ACTIONS } from '../../core/jobs/job-action-rules.ts';
import { readJobChanges } from '../../core/jobs/job-changes.ts';
import { checkNumber } from '../../core/text/numbers.ts';
import { listOf, ref } from '../../core/wire/schema.ts';
import { previewOperation, type Work } from '../operations.ts';
import { refuse } from '../problem.ts';
import { filterOfBody, readFields, readText, readTexts } from '../read-input.ts';
import { del, get, json, post, type Route } from '../route.ts';
import { INPUTS } from '../schemas.ts';

const MAX_LIMIT = 1e9;
const MAX_PER_SECOND = 10_000;
const preview = { description: 'what the bulk action would do', schema: ref('OperationPreview') };
const operationAnswer = { description: 'the bulk action', schema: ref('Operation') };

export const OPERATION_ROUTES: Route[] = [
  get('/api/v1/operations', {
    summary: 'List the bulk actions of this server, newest first',
    answers: { 200: { description: 'the bulk actions', schema: listOf(ref('Operation')) } },
    handle: async ({ serving }) => json(serving.operations.list()),
  }),
  post('/api/v1/operations', {
    summary:
      'Start a bulk action on jobs by id, by filter or by DLQ group, optionally with a maximum number of jobs (`limit`) or a maximum rate (`per_second`), or count what it would do (`dry_run`)',
    body: ref('NewOperation'),
    answers: { 200: preview, 202: operationAnswer },
    async handle({ serving, app, body }) {
      const given = readFields(body, INPUTS.NewOperation);
      const action = readText(given.action, 'action');
      if ([given.ids, given.filter, given.group].filter((one) => one !== undefined).length !== 1)
        refuse('invalid-request', 'the request needs ids, a filter or a group');
      const act = bulkActionOf(action, given.changes, app.clock.now());
      const limit = readCount(given.limit, 'limit', MAX_LIMIT) ?? Number.POSITIVE_INFINITY;
      const perSecond = readCount(given.per_second, 'per_second', MAX_PER_SECOND);
      const ids =
        given.group !== undefined
          ? givenIds(await jobIdsOfGroup(app, readText(given.group, 'group')))
          : given.ids === undefined
            ? matchingIds(app, filterOfBody(given.filter))
            : givenIds(readTexts(given.ids, 'ids'));
      if (readFlag(given.dry_run, 'dry_run'))
        return json(await previewOperation(app, action, { ids, limit }));
      const work: Work = {
        ids,
        limit,
        perSecond,
        async act(batch) {
          // If the store was replaced meanwhile, a change to the old one would be lost.
          await checkOpen(app);
          return act(app, batch).finally(serving.shared.forget);
        },
        record: (event) => noteEvent(app, event),
      };
      return json(serving.operations.start(action, work), 202);
    },
  }),
  get('/api/v1/operations/{id}', {
    summary: 'Show the progress of a bulk action',
    answers: { 200: operationAnswer },
    handle: async ({ serving, params }) => json(serving.operations.get(params.id!)),
  }),
  del('/api/v1/operations/{id}', {
    summary: 'Stop a bulk action without undoing the changes that it has already made',
    answers: { 200: operationAnswer },
    handle: async ({ serving, params }) => json(serving.operations.stop(params.id!)),
  }),
];

/** Returns the function of a bulk action. Only `edit` takes changes. */
function bulkActionOf(action: string, changes: unknown, now: number) {
  const verb = BULK_ACTIONS.find((one) => one === action);
  if (verb === undefined) refuse('invalid-request', `action must be one of ${BULK_ACTIONS.join(', ')}`);
  if (verb !== 'edit' && changes !== undefined)
    refuse('invalid-request', 'changes are only allowed with the action edit');
  const options = verb === 'edit' ? { changes: readJobChanges(changes, now) } : { bulk: true };
  return (app: App, ids: string[]) => JOB_ACTIONS[verb].act(app, ids, options);
}

/** Reads an optional whole number. Throws for text and arrays, which JavaScript would convert. */
function readCount(value: unknown, name: string, max: number): number | null {
  if (value === undefined) return null;
  const count = typeof value === 'number' ? value : Number.NaN;
  return checkNumber(count, name, { min: 1, max, integer: true }, value);
}

function readFlag(value: unknown, name: string): boolean {
  if (value !== undefined && typeof value !== 'boolean')
    refuse('invalid-value', `${name} must be true or false`);
  return value === true;
}

/** Yields the given ids without duplicates. Prefixes of ids are not completed here. */
async function* givenIds(ids: string[]): AsyncGenerator<string[]> {
  yield [...new Set(ids)];
}

async function* matchingIds(app: App, filter: JobFilter): AsyncGenerator<string[]> {
  for await (const page of listPages(app, filter, null)) yield page.map((job) => job.id);
}
