import type { App } from '../../actions/app.ts';
import { errorGroups } from '../../actions/error-groups.ts';
import { lastEventNumber } from '../../actions/events.ts';
import { ERROR_GROUPS, type ErrorGroups } from '../../core/wire.ts';
import type { Store } from '../../store/store.ts';
import { get, json, type Route } from '../route.ts';

export const DLQ_ROUTES: Route[] = [
  get('/api/v1/dlq/groups', {
    summary: 'Group the newest 10,000 dead jobs by error',
    answers: { 200: { description: 'the groups, largest first', schema: ERROR_GROUPS } },
    handle: async ({ app }) => json(await cachedGroups(app)),
  }),
];

/** The groups of each store. `event` is the number of the last event before the jobs were read. */
const cache = new WeakMap<Store, { event: number; groups: Promise<ErrorGroups> }>();

/** Returns the groups, cached until the next event. Only one computation runs at a time, because it reads thousands of jobs. */
async function cachedGroups(app: App): Promise<ErrorGroups> {
  const { store } = app;
  const event = await lastEventNumber(app);
  const known = cache.get(store);
  if (known?.event === event) return known.groups;
  const fresh = {
    event,
    groups: (known?.groups ?? Promise.resolve()).then(ignore, ignore).then(() => errorGroups(app)),
  };
  cache.set(store, fresh);
  fresh.groups.catch(() => cache.delete(store));
  return fresh.groups;
}

const ignore = (): void => {};
