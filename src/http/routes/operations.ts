import type { Acted } from '../../actions/act.ts';
import { type App, checkOpen } from '../../actions/app.ts';
import { jobsOfGroup } from '../../actions/error-groups.ts';
import { noteEvent } from '../../actions/events.ts';
import { listPages } from '../../actions/jobs.ts';
import type { NewEvent } from '../../core/events.ts';
import type { JobFilter } from '../../core/filter.ts';
import { checkNumber } from '../../core/numbers.ts';
import { listOf, ref } from '../../core/schema.ts';
import { fields, text, texts } from '../body.ts';
import { filterOfBody } from '../filter.ts';
import { bulkActionOf } from '../job-actions.ts';
import { refuse } from '../problem.ts';
import { json, type Route } from '../route.ts';

const MOST_AT_ALL = 1e9;
const MOST_PER_SECOND = 10_000;
const operation = { description: 'the bulk action', schema: ref('Operation') };

/** The routes of bulk actions. */
export const OPERATION_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/api/v1/operations',
    summary: 'List the bulk actions of this server, newest first',
    access: 'look',
    answers: { 200: { description: 'the bulk actions', schema: listOf(ref('Operation')) } },
    handle: async ({ serving }) => json(serving.operations.list()),
  },
  {
    method: 'POST',
    path: '/api/v1/operations',
    summary:
      'Start a bulk action on jobs by id, by filter or by DLQ group, optionally with a maximum number of jobs (`limit`) or a maximum rate (`per_second`)',
    access: 'change',
    body: ref('NewOperation'),
    answers: { 202: operation },
    async handle({ serving, app, body }) {
      const given = fields(body, ['action', 'ids', 'filter', 'group', 'changes', 'limit', 'per_second']);
      const action = text(given.action, 'action');
      const now = app.clock.now();
      if ([given.ids, given.filter, given.group].filter((one) => one !== undefined).length !== 1)
        refuse('invalid-request', 'give ids, a filter or a group');
      const act = bulkActionOf(action, given.changes, now);
      const limit = whole(given.limit, 'limit', MOST_AT_ALL) ?? Number.POSITIVE_INFINITY;
      const perSecond = whole(given.per_second, 'per_second', MOST_PER_SECOND);
      const ids =
        given.group !== undefined
          ? named(await jobsOfGroup(app, text(given.group, 'group')))
          : given.ids === undefined
            ? matching(app, filterOfBody(given.filter, now))
            : named(texts(given.ids, 'ids'));
      const each = async (batch: string[]): Promise<Acted> => {
        // A change of a store that was replaced meanwhile would be lost.
        await checkOpen(app);
        return act(app, batch).finally(serving.shared.forget);
      };
      const record = (event: NewEvent): Promise<void> => noteEvent(app, event);
      return json(serving.operations.start(action, ids, each, record, { limit, perSecond }), 202);
    },
  },
  {
    method: 'GET',
    path: '/api/v1/operations/{id}',
    summary: 'Show the progress of a bulk action',
    access: 'look',
    answers: { 200: operation },
    handle: async ({ serving, params }) => json(serving.operations.get(params.id!)),
  },
  {
    method: 'DELETE',
    path: '/api/v1/operations/{id}',
    summary: 'Stop a bulk action without undoing the changes that it has already made',
    access: 'change',
    answers: { 200: operation },
    handle: async ({ serving, params }) => json(serving.operations.stop(params.id!)),
  },
];

/** Reads an optional whole number. Refuses text and arrays, which JavaScript would convert. */
function whole(value: unknown, name: string, max: number): number | null {
  if (value === undefined) return null;
  return checkNumber(
    typeof value === 'number' ? value : Number.NaN,
    name,
    { min: 1, max, integer: true },
    value,
  );
}

/** Yields the ids as they were given. Prefixes of ids are not completed here. */
async function* named(ids: string[]): AsyncGenerator<string[]> {
  yield [...new Set(ids)];
}

async function* matching(app: App, filter: JobFilter): AsyncGenerator<string[]> {
  for await (const page of listPages(app, filter, null)) yield page.map((job) => job.id);
}
