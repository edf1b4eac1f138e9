import type { App } from '../../actions/app.ts';
import { errorGroups } from '../../actions/error-groups.ts';
import { lastEvent } from '../../actions/events.ts';
import { listOf, record, ref } from '../../core/schema.ts';
import type { ErrorGroups } from '../../core/wire.ts';
import type { Store } from '../../store/store.ts';
import { json, type Route } from '../route.ts';

export const DLQ_ROUTES: Route[] = [
  {
    method: 'GET',
    path: '/api/v1/dlq/groups',
    summary: 'Group the newest 10,000 dead jobs by error',
    access: 'look',
    answers: {
      200: {
        description: 'the groups, largest first',
        schema: record({
          ...{ groups: listOf(ref('ErrorGroup')), looked_at: { type: 'integer' } },
          capped: { type: 'boolean' },
        }),
      },
    },
    handle: async ({ app }) => json(await groupsNow(app)),
  },
];

interface Look {
  /** The last event when it began. */
  event: number;
  groups: Promise<ErrorGroups>;
}

const looks = new WeakMap<Store, Look>();

/** Thousands of jobs are read for it: one look for all who ask, and none while nothing happens. */
async function groupsNow(app: App): Promise<ErrorGroups> {
  const { store } = app;
  const event = await lastEvent(app);
  const known = looks.get(store);
  if (known?.event === event) return known.groups;
  const look = {
    event,
    groups: (known?.groups ?? Promise.resolve()).then(noMatter, noMatter).then(() => errorGroups(app)),
  };
  looks.set(store, look);
  look.groups.catch(() => looks.delete(store));
  return look.groups;
}

const noMatter = (): void => {};
