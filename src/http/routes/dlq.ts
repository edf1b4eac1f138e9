import { type ErrorGroups, errorGroups } from '../../actions/error-groups.ts';
import { json, type Route, type Serving } from '../route.ts';
import { listOf, record, ref } from '../schema.ts';

export const DLQ_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/api/v1/dlq/groups',
    summary: 'Dead jobs by what killed them; the newest 10,000 are looked at',
    access: 'look',
    answers: {
      200: {
        description: 'the groups, the largest first',
        schema: record({
          ...{ groups: listOf(ref('ErrorGroup')), looked_at: { type: 'integer' } },
          capped: { type: 'boolean' },
        }),
      },
    },
    handle: async ({ serving }) => json(await groupsNow(serving)),
  },
];

interface Look {
  /** The last event when it began. */
  event: number;
  groups: Promise<ErrorGroups>;
}

const looks = new WeakMap<Serving, Look>();

/** Thousands of jobs are read for it: one look for all who ask, and none while nothing happens. */
async function groupsNow(serving: Serving): Promise<ErrorGroups> {
  const event = await serving.app.store.lastEvent();
  const known = looks.get(serving);
  if (known?.event === event) return known.groups;
  const look = {
    event,
    groups: (known?.groups ?? Promise.resolve())
      .then(noMatter, noMatter)
      .then(() => errorGroups(serving.app)),
  };
  looks.set(serving, look);
  look.groups.catch(() => looks.delete(serving));
  return look.groups;
}

const noMatter = (): void => {};
