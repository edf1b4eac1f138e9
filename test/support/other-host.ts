import type { App } from '../../src/actions/app.ts';
import { openSqlite } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';

/** Opens a store, and an app that sees it as another host would: every attempt belongs to the host 'far'. */
export async function openOnOtherHost(path: string): Promise<{ app: App; store: Store }> {
  const opened = await openSqlite(path);
  const { store } = opened;
  const far = <T extends object>(values: T[]): (T & { otherHost: string })[] =>
    values.map((one) => ({ ...one, otherHost: 'far' }));
  const seenFromHere: Store = {
    ...store,
    epoch: store.epoch,
    origin: store.origin,
    attempts: async (id) => far(await store.attempts(id)),
    runningJobs: async () => far(await store.runningJobs()),
    async adopt(claim, workerId) {
      const job = await store.adopt(claim, workerId);
      return job === null ? null : far([job])[0]!;
    },
  };
  return { store, app: { ...opened, store: seenFromHere, random: () => 0, newId: String } };
}
